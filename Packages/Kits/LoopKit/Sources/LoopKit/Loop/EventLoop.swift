/// One thread that waits in epoll for every descriptor given to it, and wakes the tasks that wait for one.
///
/// It only tells that a descriptor is ready; the tasks read and write by themselves, so nothing is read before somebody
/// asks for it. The thread starts with the first descriptor, and ends with `stop` or with the last reference: that of
/// the owner, and one for each `LoopDescriptor`.
public final class EventLoop: Sendable {
    let core = LoopCore()

    /// A loop without a thread.
    public init() {}

    deinit { stop() }

    /// Runs tasks that prefer it on the thread of the loop, so that whoever waits for a descriptor of this loop goes on
    /// without a change of threads. They must neither block nor compute for long: all descriptors wait meanwhile.
    ///
    /// Where the thread does not run, not yet or not any more, they run with all other tasks.
    public var executor: any TaskExecutor { core }

    /// Starts the thread unless it runs already; making a `LoopDescriptor` does it too.
    public func start() throws(LoopError) {
        try core.start()
    }

    /// Ends the thread and waits for that. Every wait ends as if its descriptor were closed; the descriptors themselves
    /// stay open until their owners let go of them.
    public func stop() {
        core.stop()
    }
}
