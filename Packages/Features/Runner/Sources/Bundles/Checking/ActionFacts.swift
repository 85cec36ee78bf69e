public import Capabilities
import ExpressionKit
import JSON

/// What a check needs to know about an action. The registry of the program provides it.
public struct ActionFacts: Sendable {
    /// The id, even if the bundle uses an alias.
    public let id: String
    /// Its effect without a flag that makes it destroy something.
    private let usual: Effect
    /// Whether it sends data to other machines or costs money.
    public let sends: Bool
    private let destroyingFlag: String?
    let offer: ActionOffer
    let parameters: [Parameter]
    let result: Schema
    /// Why it is not available, such as a feature that is off.
    public let problem: String?

    /// An argument that the action takes.
    public struct Parameter: PropertyDeclaration {
        public let property: Schema.Property
        let isRequired: Bool

        /// - Parameter isRequired: whether a step without it is a problem.
        public init(_ property: Schema.Property, isRequired: Bool) {
            self.property = property
            self.isRequired = isRequired
        }
    }

    /// - Parameters:
    ///   - effect: the effect without the destroying flag.
    ///   - destroyingFlag: the parameter with which the action destroys something; nil if there is none.
    ///   - offer: to whom the action is offered.
    ///   - result: the schema of the result, against which references to it are checked.
    ///   - problem: why it is not available; nil if it is.
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

    /// Its effect in a step, as far as it is known before a run.
    func effect(of step: Step) -> Effect {
        guard let destroyingFlag, case .object(let members) = step.arguments,
            members.first(where: { $0.name == destroyingFlag })?.value.constant == true
        else { return usual }
        return .destroys
    }
}

/// The program that bundles are checked against.
public protocol BundleSurroundings: Sendable {
    /// What a bundle may reach in a run.
    var reach: BundleReach { get }
    /// An action by id or alias.
    func action(_ name: String) -> ActionFacts?
    /// Why an action is missing, if known: its feature is off.
    func absence(ofAction name: String) -> String?
    /// All ids and aliases, for suggestions.
    var actionNames: [String] { get }
    /// Why a feature is not available; nil if it is.
    func problem(ofFeature id: String) -> String?
    /// The text of another bundle, by its path relative to the folder of the bundle that names it.
    func bundle(_ path: String, besides file: String) throws(BundleFailure) -> BundleSource
}
