//! Opens the link that sends arrays directly from the device of one rank to the device of another rank.

use crate::failed;
use backends::{
    Backend, Result,
    runtime::link::{Link, Offer, Peers},
};
use backends_world::{DType, World};
use std::sync::Arc;

const OP: &str = "Sharded::with";

/// The channel through which backends communicate while they open a link.
struct Among<'a>(&'a World);

impl Peers for Among<'_> {
    fn rank(&self) -> usize {
        self.0.rank()
    }

    fn size(&self) -> usize {
        self.0.size()
    }

    fn all_gather(&self, mine: &[u8]) -> Result<Vec<u8>> {
        let counts = vec![mine.len(); self.size()];
        let mut all = vec![0; mine.len() * self.size()];
        self.0.all_gather(mine, &mut all, &counts, DType::UInt8).map_err(failed(OP))?;
        Ok(all)
    }
}

/// Opens the link between all ranks. If one rank cannot open it, all ranks send parts through the host, and the inner
/// result is an `Err` with the reason. Collective: all ranks must call this.
///
/// # Errors
/// An error if the ranks cannot communicate at all.
pub(crate) fn open<B: Backend>(within: &B, world: &World) -> Result<std::result::Result<Link, Arc<str>>> {
    if world.size() == 1 {
        return Ok(Err("there is one rank".into()));
    }
    let among = Among(world);
    world.agree(OP, || "link".into()).map_err(failed(OP))?;
    let own = within.offer();
    let offers = among.all_gather(&Offer::to_bytes(own.as_ref().ok()))?;
    if let Err(why) = Offer::fit(&offers) {
        return Ok(Err(own.err().unwrap_or(why).into()));
    }
    let opened = within.link(&among);
    let has_opened = matches!(opened, Ok(Some(_)));
    let all = among.all_gather(&[u8::from(has_opened)])?;
    Ok(match (opened, all.iter().position(|&opened| opened == 0)) {
        (Ok(Some(link)), None) => Ok(link),
        (Err(why), _) => Err(why.to_string().into()),
        (_, rank) => Err(format!("rank {} could not open it", rank.unwrap_or(world.rank())).into()),
    })
}
