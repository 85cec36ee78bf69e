public import Expressions

/// One thing that a bundle does.
public struct Step: Sendable {
    /// How other steps refer to it.
    public var id: String
    public var work: Work
    /// What the action or the bundle is given: an object.
    public var arguments: JSONTemplate = .object([])
    /// Whether it runs; when nil, if all that it needs went well.
    public var condition: Expression?
    /// The steps that have to be over before.
    public var needs: [String] = []
    /// Runs of the step that differ in a value.
    public var spread: Spread?
    /// How many of these run at once.
    public var parallel: Int?
    public var retry: Retry?
    /// How long one attempt may take.
    public var timeout: Duration?
    /// Whether the run goes on, and counts as well done, when this fails.
    public var continuesOnError = false
    public var cache: Cache?
    /// Where it stands in the file.
    public let path: [String]

    public enum Work: Sendable, Hashable {
        /// An action by its id or its alias.
        case action(String)
        /// Another bundle, by its path from the folder of this one.
        case bundle(String)

        public var name: String {
            switch self {
            case .action(let name), .bundle(let name): name
            }
        }
    }

    /// What a step is run for, once each.
    public enum Spread: Sendable {
        case matrix(Matrix)
        /// The items of a list.
        case foreach(JSONTemplate)
    }

    /// When a step is tried again.
    public struct Retry: Sendable, Hashable {
        /// How often it is tried again after the first time: with 2 there are up to three attempts.
        public var times: Int
        public var delay: Duration
        /// By what the delay grows each time.
        public var factor: Double
        /// The exit codes after which it is tried again.
        public var on: [Int]

        public init(times: Int, delay: Duration = .seconds(1), factor: Double = 2, on: [Int] = [4]) {
            self.times = times
            self.delay = delay
            self.factor = factor
            self.on = on
        }
    }

    /// For how long a result is used again.
    public struct Cache: Sendable {
        /// What has to be the same besides the action and what it is given.
        public var key: JSONTemplate
        public var lifetime: Duration

        public init(key: JSONTemplate, lifetime: Duration) {
            self.key = key
            self.lifetime = lifetime
        }
    }

    public init(id: String, work: Work, path: [String]) {
        self.id = id
        self.work = work
        self.path = path
    }
}
