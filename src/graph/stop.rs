//! Ending work that no one waits for any more.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use datafusion::error::DataFusionError;

/// Asks a computation in another thread to end. Its clones are the same.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<AtomicBool>);

/// A computation was asked to end before it had a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("stopped before its end")]
pub struct Stopped;

impl From<Stopped> for DataFusionError {
    fn from(stopped: Stopped) -> Self {
        Self::Execution(stopped.to_string())
    }
}

impl Stop {
    /// Asks.
    pub fn ask(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Fails if someone asked. Cheap: long loops call this every few thousand steps.
    ///
    /// # Errors
    /// If so.
    pub fn check(&self) -> Result<(), Stopped> {
        if self.0.load(Ordering::Relaxed) {
            return Err(Stopped);
        }
        Ok(())
    }
}

/// Asks when it is dropped.
#[derive(Debug, Default)]
pub struct StopOnDrop(Stop);

impl StopOnDrop {
    /// What a computation looks at.
    pub fn stop(&self) -> &Stop {
        &self.0
    }
}

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.ask();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dropping_the_owner_stops_its_work() {
        let owner = StopOnDrop::default();
        let stop = owner.stop().clone();
        assert_eq!(stop.check(), Ok(()));
        drop(owner);
        assert_eq!(stop.check(), Err(Stopped));
    }
}
