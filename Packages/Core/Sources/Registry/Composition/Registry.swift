public import Capabilities
import Synchronization

/// Where features meet: every capability and action of a composition. It never changes after the check, so a
/// lookup costs no lock and no hop.
public final class Registry: Sendable {
    @usableFromInline let slots: CapabilityTable
    /// Every action, by id.
    public let actions: ActionIndex
    /// What `doctor` asks, by feature.
    public let checks: [HealthCheck]
    /// The libraries that features are built on.
    public let libraries: [Library]

    init(
        slots: [ObjectIdentifier: CapabilitySlot], actions: ActionIndex, checks: [HealthCheck], libraries: [Library]
    ) {
        self.slots = CapabilityTable(slots)
        self.actions = actions
        self.checks = checks
        self.libraries = libraries
    }

    /// The provider of a capability.
    ///
    /// - Throws: `RegistryError.missing`, which cannot happen to a feature that declared the need.
    @inlinable
    public func one<C: Sendable>(_ capability: C.Type) throws(RegistryError) -> C {
        guard let slot = slots[ObjectIdentifier(capability)] as? Slot<C> else {
            throw RegistryError.missing(CapabilityType(capability))
        }
        return slot.first
    }

    /// The provider of a capability, if there is one.
    @inlinable
    public func optional<C: Sendable>(_ capability: C.Type) -> C? {
        guard let slot = slots[ObjectIdentifier(capability)] as? Slot<C> else { return nil }
        return slot.first
    }

    /// Every provider of a capability, in the order of the features.
    @inlinable
    public func all<C: Sendable>(_ capability: C.Type) -> [C] {
        guard let slot = slots[ObjectIdentifier(capability)] as? Slot<C> else { return [] }
        return slot.providers
    }
}

/// A place in the registry whose type is known only to who asks. A class and no protocol, because the cast from one
/// class to another is what keeps a lookup as cheap as the dictionary's own.
///
/// Unchecked only because it has a subclass: it holds nothing itself, and the subclass holds constants.
@usableFromInline
class CapabilitySlot: @unchecked Sendable {}

/// The providers of one capability.
@usableFromInline
final class Slot<C: Sendable>: CapabilitySlot, @unchecked Sendable {
    @usableFromInline let first: C
    @usableFromInline let providers: [C]

    /// - Parameter first: stands beside the list because reading it from there would cost a lookup twice.
    init(first: C, all providers: [C]) {
        self.first = first
        self.providers = providers
    }
}

/// The registry of a composition, once every feature has registered: for what a feature looks up outside of actions.
///
/// What a feature made may keep it, because it keeps nothing alive itself.
public final class WholeRegistry: Sendable {
    private struct Contents {
        weak var registry: Registry?
    }

    private let contents = Mutex(Contents())

    /// Nil while features register, and when the composition is gone.
    public var registry: Registry? { contents.withLock { $0.registry } }

    func fill(_ registry: Registry) {
        contents.withLock { $0.registry = registry }
    }
}

/// A lookup that found nothing.
public enum RegistryError: Failure, Hashable {
    case missing(CapabilityType)
    case noAction(String, suggestion: String?)

    public var code: String {
        switch self {
        case .missing: "registry.missing-capability"
        case .noAction: "registry.no-action"
        }
    }

    public var exit: ExitCode { .usage }

    public var message: String {
        switch self {
        case .missing(let capability):
            "nothing provides \(capability) here; 'martlet features' shows which features are on"
        case .noAction(let id, let suggestion):
            "there is no action \(id.quotedForMessage)" + (suggestion.map { "; did you mean '\($0)'?" } ?? "")
        }
    }
}
