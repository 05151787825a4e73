//! The transport of a world with a single rank, which needs no library. Every call returns the rank's own data.

use crate::{DType, Error, Join, Result, Transport, join};

/// The transport of a single rank.
pub(crate) struct Alone;

impl Transport for Alone {
    fn name(&self) -> String {
        "one rank alone".into()
    }
    fn rank(&self) -> usize {
        0
    }
    fn size(&self) -> usize {
        1
    }
    fn barrier(&self) -> Result<()> {
        Ok(())
    }
    fn broadcast(&self, _: &mut [u8], _: DType, _: usize) -> Result<()> {
        Ok(())
    }
    fn all_gather(&self, send: &[u8], recv: &mut [u8], _: &[usize], _: DType) -> Result<()> {
        recv.copy_from_slice(send);
        Ok(())
    }
    fn all_to_all(&self, send: &[u8], _: &[usize], recv: &mut [u8], _: &[usize], _: DType) -> Result<()> {
        recv.copy_from_slice(send);
        Ok(())
    }
    fn all_reduce(&self, _: &mut [u8], _: DType, _: Join) -> Result<()> {
        Ok(())
    }
    fn reduce(&self, _: &mut [u8], _: DType, _: Join, _: usize) -> Result<()> {
        Ok(())
    }
    fn scan(&self, _: &mut [u8], _: DType, _: Join) -> Result<()> {
        Ok(())
    }
    fn exscan(&self, buf: &mut [u8], dtype: DType, join: Join) -> Result<()> {
        join::fill_identity(buf, dtype, join);
        Ok(())
    }
    // `World` does not call `send` and `recv` here, because there is no other rank
    fn send(&self, _: &[u8], _: DType, to: usize) -> Result<()> {
        Err(Error::Gone { call: "send", rank: to, why: "there is one rank alone".into() })
    }
    fn recv(&self, _: &mut [u8], _: DType, from: usize) -> Result<()> {
        Err(Error::Gone { call: "recv", rank: from, why: "there is one rank alone".into() })
    }
    fn split(&self, number: Option<usize>, _: &[usize]) -> Result<Option<Box<dyn Transport>>> {
        Ok(number.map(|_| Box::new(Alone) as Box<dyn Transport>))
    }
    fn local(&self) -> Result<(usize, usize)> {
        Ok((0, 1))
    }
    fn abort(&self, code: i32) -> ! {
        std::process::exit(code)
    }
}
