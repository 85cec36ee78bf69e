public import Capabilities

/// What a feature may know of the machine and the person before anything is composed.
public struct Surroundings: Sendable {
    public let environment: [String: String]
    public let locations: Locations
    /// Takes secrets out of all that is logged, traced and said.
    public let redactor: Redactor
    /// Time for limits and pauses; tests put their own in.
    public let clock: any Clock<Duration>
    /// The time of day.
    public let now: @Sendable () -> Timestamp

    public init(
        environment: [String: String], locations: Locations, redactor: Redactor = Redactor(),
        clock: any Clock<Duration>, now: @escaping @Sendable () -> Timestamp
    ) {
        self.environment = environment
        self.locations = locations
        self.redactor = redactor
        self.clock = clock
        self.now = now
    }

    /// No folders, no variables, and a time that stands still: for compositions that are only looked at.
    public static let none = Surroundings(
        environment: [:], locations: Locations(current: "/", config: "", data: "", state: "", cache: ""),
        clock: ContinuousClock(), now: { Timestamp(microseconds: 0) })
}
