public import Capabilities

/// Where features meet: every capability and action of a composition. It never changes after the check, so a
/// lookup is a dictionary access and nothing else.
public final class Registry: Sendable {
    @usableFromInline let slots: [ObjectIdentifier: any CapabilitySlot]
    /// Every action, by id.
    public let actions: ActionIndex
    /// What `doctor` asks, by feature.
    public let checks: [HealthCheck]
    /// The libraries that features are built on.
    public let libraries: [Library]

    init(
        slots: [ObjectIdentifier: any CapabilitySlot], actions: ActionIndex, checks: [HealthCheck], libraries: [Library]
    ) {
        self.slots = slots
        self.actions = actions
        self.checks = checks
        self.libraries = libraries
    }

    /// The provider of a capability.
    ///
    /// - Throws: `RegistryError.missing`, which cannot happen to a feature that declared the need.
    @inlinable
    public func one<C: Sendable>(_ capability: C.Type) throws(RegistryError) -> C {
        guard let provider = optional(capability) else { throw RegistryError.missing(CapabilityType(capability)) }
        return provider
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

/// A place in the registry whose type is known only to who asks.
@usableFromInline
protocol CapabilitySlot: AnyObject, Sendable {}

/// The providers of one capability.
@usableFromInline
final class Slot<C: Sendable>: CapabilitySlot {
    @usableFromInline let first: C?
    @usableFromInline let providers: [C]

    init(_ providers: [C]) {
        self.providers = providers
        first = providers.first
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
