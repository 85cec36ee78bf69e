/// A capability's protocol as a value that manifests can name.
public struct CapabilityType: Sendable, Hashable, CustomStringConvertible {
    private let type: any Any.Type

    @usableFromInline
    init(_ type: any Any.Type) {
        self.type = type
    }

    var id: ObjectIdentifier { ObjectIdentifier(type) }

    /// The protocol's name, without `any` and module.
    public var description: String {
        // The interpolation of a type only looks up its name; `String(describing:)` asks first, at some length, whether the
        // type's type has a description of its own.
        let name = "\(type)"
        return name.hasPrefix("any ") ? String(name.dropFirst(4)) : name
    }

    public static func == (left: CapabilityType, right: CapabilityType) -> Bool { left.id == right.id }
    public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

/// What a feature offers to others.
public struct Provision: Sendable, Hashable {
    public let capability: CapabilityType
    let kind: Kind

    enum Kind: Sendable, Hashable { case single, shared, fallback }

    /// The one provider; a second one is a problem of the composition.
    public static func single<C>(_ capability: C.Type) -> Provision {
        Provision(capability: CapabilityType(capability), kind: .single)
    }

    /// One provider among any number.
    public static func shared<C>(_ capability: C.Type) -> Provision {
        Provision(capability: CapabilityType(capability), kind: .shared)
    }

    /// Used only where nobody else provides it.
    public static func fallback<C>(_ capability: C.Type) -> Provision {
        Provision(capability: CapabilityType(capability), kind: .fallback)
    }
}

/// What a feature uses of others.
public struct Need: Sendable, Hashable {
    public let capability: CapabilityType
    public let kind: Kind

    /// Only `one` orders the start, can be missing, and can be part of a cycle.
    public enum Kind: Sendable, Hashable { case one, optional, all }

    /// Exactly one provider, without which the feature cannot be.
    public static func one<C>(_ capability: C.Type) -> Need {
        Need(capability: CapabilityType(capability), kind: .one)
    }

    /// One provider if there is one.
    public static func optional<C>(_ capability: C.Type) -> Need {
        Need(capability: CapabilityType(capability), kind: .optional)
    }

    /// Every provider there is, which may be none.
    public static func all<C>(_ capability: C.Type) -> Need {
        Need(capability: CapabilityType(capability), kind: .all)
    }
}
