/// One piece of work that waits for a connection, and the caller that waits for the work.
struct Job: Sendable {
    /// Also who it is: no two jobs share one.
    let cancellation: Cancellation
    /// Does the work in a lane and tells the caller.
    let run: @Sendable (Lane) -> Void
    /// Tells the caller that it will not be done.
    let refuse: @Sendable (any Error) -> Void
}
