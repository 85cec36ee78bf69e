import Glibc

/// How a run is done.
public struct RunOptions: Sendable {
    /// How many actions run at once, where the bundle does not say: as many as there are processors.
    public var parallel = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
    /// How long one attempt of a step may take that says nothing of it.
    public var stepLimit = Duration.seconds(30 * 60)
    /// How long a run may take whose bundle says nothing of it.
    public var runLimit = Duration.seconds(6 * 3600)
    /// How long the steps of the end may take together.
    public var endLimit = Duration.seconds(10 * 60)
    /// How many events of a step are kept.
    public var eventsKept = 1_000

    public init() {}
}
