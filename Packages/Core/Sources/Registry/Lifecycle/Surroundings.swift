public import Capabilities
import Synchronization

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
    /// What features share among the compositions of a session.
    let shared: SharedValues

    public init(
        environment: [String: String], locations: Locations, redactor: Redactor = Redactor(),
        clock: any Clock<Duration>, now: @escaping @Sendable () -> Timestamp
    ) {
        self.init(
            environment: environment, locations: locations, redactor: redactor, clock: clock, now: now,
            shared: SharedValues())
    }

    private init(
        environment: [String: String], locations: Locations, redactor: Redactor, clock: any Clock<Duration>,
        now: @escaping @Sendable () -> Timestamp, shared: SharedValues
    ) {
        self.environment = environment
        self.locations = locations
        self.redactor = redactor
        self.clock = clock
        self.now = now
        self.shared = shared
    }

    /// The same for the next composition of a session, with what all of them share.
    public func moved(to locations: Locations) -> Surroundings {
        Surroundings(
            environment: environment, locations: locations, redactor: redactor, clock: clock, now: now, shared: shared)
    }

    /// No folders, no variables, and a time that stands still: for compositions that are only looked at.
    public static var none: Surroundings {
        Surroundings(
            environment: [:], locations: Locations(current: "/", config: "", data: "", state: "", cache: ""),
            clock: ContinuousClock(), now: { Timestamp(microseconds: 0) })
    }
}

/// What features share among the compositions of a session, by feature and name.
final class SharedValues: Sendable {
    private let values = Mutex<[String: any Sendable]>([:])

    /// The value that is there, else a new one, which stays.
    func value<Value: Sendable>(_ name: String, _ make: () -> Value) -> Value {
        values.withLock { values in
            if let value = values[name] as? Value { return value }
            let value = make()
            values[name] = value
            return value
        }
    }
}
