public import Capabilities
import Expressions
import JSON

/// What has to be known of an action to check a step that does it. The registry of the program knows it.
public struct ActionFacts: Sendable {
    public let id: String
    /// How far it goes without a flag that makes it destroy something.
    private let usual: Effect
    /// Whether it leaves this machine, or costs something.
    public let sends: Bool
    private let destroyingFlag: String?
    public let offer: ActionOffer
    public let parameters: [Parameter]
    public let result: Schema
    /// Why it cannot be done here, such as that its feature is off.
    public let problem: String?

    public struct Parameter: Sendable {
        public let name: String
        public let summary: String
        public let schema: Schema
        public let isRequired: Bool

        public init(_ name: String, _ summary: String, _ schema: Schema, isRequired: Bool) {
            self.name = name
            self.summary = summary
            self.schema = schema
            self.isRequired = isRequired
        }
    }

    public init(
        id: String, effect: Effect, sends: Bool = false, destroyingFlag: String? = nil,
        offer: ActionOffer = .bundles,
        parameters: [Parameter], result: Schema,
        problem: String? = nil
    ) {
        self.id = id
        usual = effect
        self.sends = sends
        self.destroyingFlag = destroyingFlag
        self.offer = offer
        self.parameters = parameters
        self.result = result
        self.problem = problem
    }

    /// How far it goes in a step, as far as that is known before a run.
    func effect(of step: Step) -> Effect {
        guard let destroyingFlag, case .object(let members) = step.arguments,
            members.first(where: { $0.name == destroyingFlag })?.value.constant == true
        else { return usual }
        return .destroys
    }
}

/// What bundles are checked against.
public protocol BundleSurroundings: Sendable {
    /// What is around a run, as far as a bundle may reach it.
    var reach: BundleReach { get }
    /// An action by its id or its alias.
    func action(_ name: String) -> ActionFacts?
    /// Why there is no such action, where that is known: the feature that would have it is off.
    func absence(ofAction name: String) -> String?
    /// Every id and alias, for suggestions.
    var actionNames: [String] { get }
    /// Why a feature cannot be used; nil when it can.
    func problem(ofFeature id: String) -> String?
    /// The text of another bundle's file, by its path from the folder of the one that names it.
    func bundle(_ path: String, besides file: String) throws(BundleFailure) -> BundleSource
}
