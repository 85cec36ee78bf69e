public import Expressions

/// Steps over actions that run without a person: in automation, at night, in another program.
public struct Bundle: Sendable {
    public let source: BundleSource
    public var name: String
    public var summary: String?
    /// Features that have to be there.
    public var needs: [String] = []
    public var inputs: [BundleInput] = []
    /// Names of values that steps can refer to, in their order.
    public var environment: [(name: String, value: EnvironmentValue)] = []
    public var permissions = BundlePermissions()
    public var steps: [Step] = []
    /// Steps that run in the end, however the others went.
    public var finally: [Step] = []
    /// What the run gives, by name.
    public var outputs: [(name: String, value: JSONTemplate)] = []
    public var schedule: BundleSchedule?
    /// How long all of it may take.
    public var timeout: Duration?
    /// How many steps run at once; as many as there are processors when nil.
    public var parallel: Int?

    public init(source: BundleSource, name: String) {
        self.source = source
        self.name = name
    }

    /// Every step, those of the end last.
    public var allSteps: [Step] { steps + finally }
}

/// What a value of the environment comes from.
public enum EnvironmentValue: Sendable {
    case value(JSONTemplate)
    /// A variable of the program's environment.
    case variable(String, otherwise: String?)
    /// A secret of the vault, which is masked in everything that is written.
    case secret(String)
}

/// When a bundle runs by itself.
public enum BundleSchedule: Sendable, Hashable {
    case every(Duration)
    case cron(CronSchedule)
}
