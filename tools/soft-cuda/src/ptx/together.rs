//! Decodes instructions at which threads wait for each other: barriers, shuffles and votes.

use super::{
    body::{Body, Operand},
    cursor::Read,
    step::{Barrier, Collective, LaneMask, Reduce, Shuffle, Slot, Special, Step, Vote},
};

impl Body<'_, '_> {
    /// Decodes barriers, such as `bar.sync`, `barrier.cta.red.popc.aligned.u32` and `bar.warp.sync`.
    pub(super) fn barrier(&mut self, name: &str, modifiers: &[&str]) -> Read<()> {
        let rest: Vec<&str> = modifiers.iter().copied().filter(|m| !matches!(*m, "aligned" | "cta")).collect();
        // all lanes of a warp must reach an aligned barrier together; `bar` is always aligned, `barrier` only with the
        // modifier
        let aligned = name == "bar" || modifiers.contains(&"aligned");
        match rest[..] {
            ["warp", "sync"] => {
                let mask = self.first_source()?;
                let (to, none) = (self.temporary()?, self.constant(0)?);
                let operands = [none; 3];
                self.emit(Step::Collective { kind: Collective::Sync, to, also: to, operands, mask });
                Ok(())
            }
            ["sync"] => {
                let number = self.first_source()?;
                let threads = if self.parser.cursor.peek() == "," { Some(self.source()?) } else { None };
                self.emit(Step::Barrier(Barrier { number, threads, aligned, vote: None }));
                Ok(())
            }
            ["red", "popc", "u32"] => self.voting_barrier(Vote::Count, aligned),
            ["red", "and", "pred"] => self.voting_barrier(Vote::All, aligned),
            ["red", "or", "pred"] => self.voting_barrier(Vote::Any, aligned),
            _ => self.unknown(),
        }
    }

    fn first_source(&mut self) -> Read<Slot> {
        match self.operand()? {
            Operand::Register(slot) => Ok(slot),
            _ => self.unknown(),
        }
    }

    /// Reads a condition, which may be negated; returns the register that holds it.
    fn condition(&mut self) -> Read<Slot> {
        match self.operand()? {
            Operand::Register(slot) => Ok(slot),
            Operand::Not(slot) => {
                let negated = self.temporary()?;
                self.emit(Step::Two { function: |a, _| !a & 1, to: negated, a: slot, b: slot });
                Ok(negated)
            }
            _ => self.unknown(),
        }
    }

    fn voting_barrier(&mut self, vote: Vote, aligned: bool) -> Read<()> {
        let to = self.target()?;
        let number = self.source()?;
        self.parser.cursor.expect(",")?;
        let (mut threads, mut condition) = (None, self.condition()?);
        if self.parser.cursor.take(",") {
            threads = Some(condition);
            condition = self.condition()?;
        }
        self.emit(Step::Barrier(Barrier { number, threads, aligned, vote: Some((vote, to, condition)) }));
        Ok(())
    }

    /// Decodes `shfl`, `vote`, `match`, `redux` and `activemask`.
    pub(super) fn together(&mut self, name: &str, modifiers: &[&str]) -> Read<()> {
        let kind = match (name, modifiers) {
            ("activemask", ["b32"]) => {
                // PTX does not define which lanes run together; here each lane runs alone
                let to = self.target()?;
                let from = self.special(Special::LaneMask(LaneMask::Equal))?;
                self.emit(Step::Copy { to, from });
                return Ok(());
            }
            ("shfl", ["sync", mode, "b32"]) => Collective::Shuffle(match *mode {
                "up" => Shuffle::Up,
                "down" => Shuffle::Down,
                "bfly" => Shuffle::Butterfly,
                "idx" => Shuffle::Index,
                _ => return self.unknown(),
            }),
            ("vote", ["sync", "ballot", "b32"]) => Collective::Vote(Vote::Ballot),
            ("vote", ["sync", "any", "pred"]) => Collective::Vote(Vote::Any),
            ("vote", ["sync", "all", "pred"]) => Collective::Vote(Vote::All),
            ("vote", ["sync", "uni", "pred"]) => Collective::Vote(Vote::Uniform),
            ("match", ["any", "sync", ty @ ("b32" | "b64")]) => Collective::MatchAny { wide: *ty == "b64" },
            ("match", ["all", "sync", ty @ ("b32" | "b64")]) => Collective::MatchAll { wide: *ty == "b64" },
            ("redux", ["sync", operation, ty]) => Collective::Reduce(match (*operation, *ty) {
                ("add", "u32" | "s32") => Reduce::Add,
                ("min", "s32") => Reduce::MinSigned,
                ("min", "u32") => Reduce::MinUnsigned,
                ("max", "s32") => Reduce::MaxSigned,
                ("max", "u32") => Reduce::MaxUnsigned,
                ("and", "b32") => Reduce::And,
                ("or", "b32") => Reduce::Or,
                ("xor", "b32") => Reduce::Xor,
                _ => return self.unknown(),
            }),
            _ => return self.unknown(),
        };
        let to = self.target()?;
        let also = if self.parser.cursor.take("|") { self.target()? } else { self.temporary()? };
        let none = self.constant(0)?;
        let operands = match kind {
            Collective::Shuffle(_) => [self.source()?, self.source()?, self.source()?],
            Collective::Vote(_) => {
                self.parser.cursor.expect(",")?;
                [self.condition()?, none, none]
            }
            _ => [self.source()?, none, none],
        };
        let mask = self.source()?;
        self.emit(Step::Collective { kind, to, also, operands, mask });
        Ok(())
    }
}
