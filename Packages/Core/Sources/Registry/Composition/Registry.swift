public import Capabilities
import Synchronization

/// All capabilities and actions of a composition. It never changes once it is built, so a lookup needs neither a lock
/// nor an actor hop.
public final class Registry: Sendable {
    @usableFromInline let slots: CapabilityTable
    /// Every action, by id.
    public let actions: ActionIndex
    /// Every screen, by id.
    public let screens: ScreenIndex
    /// The checks that `doctor` runs.
    public let checks: [HealthCheck]
    /// The libraries that features use.
    public let libraries: [Library]
    /// How the values of settings are completed, by the whole key, where their types do not tell.
    public let settingCompletions: [String: Completion]

    init(
        slots: [ObjectIdentifier: CapabilitySlot], actions: ActionIndex, screens: ScreenIndex, checks: [HealthCheck],
        libraries: [Library], settingCompletions: [String: Completion]
    ) {
        self.slots = CapabilityTable(slots)
        self.actions = actions
        self.screens = screens
        self.checks = checks
        self.libraries = libraries
        self.settingCompletions = settingCompletions
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

/// A slot whose type only the caller knows. A class instead of a protocol, because a cast between classes keeps a
/// lookup as cheap as a dictionary's.
///
/// Unchecked only because it has a subclass. It has no state, and the subclass has only constants.
@usableFromInline
class CapabilitySlot: @unchecked Sendable {}

/// The providers of one capability.
@usableFromInline
final class Slot<C: Sendable>: CapabilitySlot, @unchecked Sendable {
    @usableFromInline let first: C
    @usableFromInline let providers: [C]

    /// - Parameter first: stored separately, because reading it from the list would cost a second lookup.
    init(first: C, all providers: [C]) {
        self.first = first
        self.providers = providers
    }
}

/// The registry of a composition once all features have registered, for lookups outside of actions.
///
/// Features may keep it, because its reference is weak.
public final class WholeRegistry: Sendable {
    private struct Contents {
        weak var registry: Registry?
    }

    private let contents = Mutex(Contents())

    /// Nil while features register, and after the composition is gone.
    public var registry: Registry? { contents.withLock { $0.registry } }

    func fill(_ registry: Registry) {
        contents.withLock { $0.registry = registry }
    }
}

/// A failed lookup.
public enum RegistryError: Failure, Hashable {
    /// No feature provides this capability.
    case missing(CapabilityType)
    /// No action has this id. The suggestion is the id that was probably meant, if there is one.
    case noAction(String, suggestion: String?)
    /// No screen has this id. The suggestion is the id that was probably meant, if there is one.
    case noScreen(String, suggestion: String?)

    public var code: String {
        switch self {
        case .missing: "registry.missing-capability"
        case .noAction: "registry.no-action"
        case .noScreen: "registry.no-screen"
        }
    }

    public var exit: ExitCode { .usage }

    public var message: String {
        switch self {
        case .missing(let capability):
            "nothing provides \(capability) here; 'martlet features' shows which features are on"
        case .noAction(let id, let suggestion):
            "there is no action \(id.quotedForMessage)" + (suggestion.map { "; did you mean '\($0)'?" } ?? "")
        case .noScreen(let id, let suggestion):
            "there is no screen \(id.quotedForMessage)"
                + (suggestion.map { "; did you mean '\($0)'?" } ?? "; 'martlet screen list' shows all")
        }
    }
}

/// Maps the identity of a capability's protocol to its slot.
///
/// A dictionary would hash with a seed, to resist colliding keys from outside. These keys are addresses of our own
/// metadata, so the address itself is a good enough hash and faster.
@usableFromInline
struct CapabilityTable: Sendable {
    /// The capacity is a power of two and at least half of it is free, so that every search ends. Slots are stored
    /// separately, so that skipping a key needs no reference counting.
    @usableFromInline let keys: [ObjectIdentifier?]
    @usableFromInline let slots: [CapabilitySlot?]

    init(_ contents: [ObjectIdentifier: CapabilitySlot]) {
        var size = 4
        while size < contents.count * 2 + 1 { size *= 2 }
        var keys: [ObjectIdentifier?] = Array(repeating: nil, count: size)
        var slots: [CapabilitySlot?] = Array(repeating: nil, count: size)
        for (id, slot) in contents {
            var place = Self.place(id, size)
            while keys[place] != nil { place = (place + 1) & (size - 1) }
            keys[place] = id
            slots[place] = slot
        }
        self.keys = keys
        self.slots = slots
    }

    @inlinable @inline(__always)
    subscript(id: ObjectIdentifier) -> CapabilitySlot? {
        var place = Self.place(id, keys.count)
        while let key = keys[place] {
            if key == id { return slots[place] }
            place = (place + 1) & (keys.count - 1)
        }
        return nil
    }

    @inlinable @inline(__always)
    static func place(_ id: ObjectIdentifier, _ size: Int) -> Int {
        // Metadata is aligned, so the lowest bits carry no information.
        Int(bitPattern: UInt(bitPattern: id) >> 4) & (size - 1)
    }
}

/// Collects what features register. Only a composition creates one.
public struct RegistryBuilder {
    /// What capabilities may depend on: folders, variables, clocks.
    public let surroundings: Surroundings
    /// The finished registry, for lookups outside of actions.
    public let whole = WholeRegistry()
    var providers: [ObjectIdentifier: any ProviderList] = [:]
    var actions: [(feature: String, action: Action)] = []
    var screens: [(feature: String, screen: Screen)] = []
    var checks: [HealthCheck] = []
    var libraries: [Library] = []
    var settingCompletions: [String: Completion] = [:]
    private var closings: [@Sendable () async -> Void] = []
    var problems: [CompositionProblem] = []
    /// The feature that is registering now.
    var current: Manifest
    private var provided: Set<CapabilityType> = []

    init(surroundings: Surroundings, current: Manifest) {
        self.surroundings = surroundings
        self.current = current
    }

    /// Provides a capability that the manifest names.
    public mutating func provide<C: Sendable>(_ capability: C.Type, _ provider: C) {
        let type = CapabilityType(capability)
        guard let provision = current.provides.first(where: { $0.capability == type }) else {
            problems.append(
                CompositionProblem(
                    .undeclared, current.id, "provides \(type) without naming it in its manifest; add it to 'provides'")
            )
            return
        }
        provided.insert(type)
        let isFallback = provision.kind == .fallback
        if let list = providers[type.id] as? Providers<C> {
            list.add(provider, isFallback: isFallback)
        } else {
            providers[type.id] = Providers(provider, isFallback: isFallback)
        }
    }

    /// Adds an action.
    public mutating func add(_ action: Action) {
        actions.append((current.id, action))
    }

    /// Adds a screen.
    public mutating func add(_ screen: Screen) {
        screens.append((current.id, screen))
    }

    /// Adds a check for `doctor`.
    public mutating func add(_ check: HealthCheck) {
        checks.append(check)
    }

    /// Names a library that the feature is built on, with a way to ask for its version.
    public mutating func uses(_ library: Library) {
        libraries.append(library)
    }

    /// Completes the value of one of the feature's settings, where its type does not tell the possible values.
    ///
    /// - Parameter key: the key below the feature's id, such as `model`.
    public mutating func completes(_ key: String, _ completion: Completion) {
        settingCompletions["\(current.id).\(key)"] = completion
    }

    /// A value that the feature keeps when the settings change: it is created once per session. Everything else is
    /// created again with the new settings.
    public func shared<Value: Sendable>(_ name: String, _ make: () -> Value) -> Value {
        surroundings.shared.value("\(current.id) \(name)", make)
    }

    /// Registers work that runs once when the composition closes, after the features that use this one have closed. Use
    /// it to save what must not be lost and to release resources. It costs nothing if nothing was opened.
    public mutating func closes(_ close: @escaping @Sendable () async -> Void) {
        closings.append(close)
    }

    mutating func takeClosings() -> [@Sendable () async -> Void] {
        defer { closings = [] }
        return closings
    }

    /// Ends the registration of one feature.
    mutating func close() {
        for provision in current.provides where !provided.contains(provision.capability) {
            problems.append(
                CompositionProblem(
                    .undeclared, current.id,
                    "names \(provision.capability) in its manifest and does not provide it; call provide(_:_:)"))
        }
        provided = []
    }
}

/// The providers of one capability while features register.
protocol ProviderList: AnyObject {
    func slot() -> CapabilitySlot
}

private final class Providers<C: Sendable>: ProviderList {
    private var all: [C] = []
    private var isOnlyFallback: Bool
    private var first: C

    init(_ provider: C, isFallback: Bool) {
        first = provider
        all = [provider]
        isOnlyFallback = isFallback
    }

    /// A fallback counts only if there is no other provider.
    func add(_ provider: C, isFallback: Bool) {
        if isFallback, !isOnlyFallback { return }
        if isOnlyFallback, !isFallback {
            (first, all, isOnlyFallback) = (provider, [provider], false)
        } else {
            all.append(provider)
        }
    }

    func slot() -> CapabilitySlot {
        Slot(first: first, all: all)
    }
}
