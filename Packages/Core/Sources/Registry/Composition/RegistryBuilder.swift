import Capabilities

/// Collects what features register. Only a composition makes one.
public struct RegistryBuilder {
    /// What capabilities are made with: folders, variables, clocks.
    public let surroundings: Surroundings
    /// The registry as it will be, for what is looked up when nobody's action is being done.
    public let whole = WholeRegistry()
    var providers: [ObjectIdentifier: any ProviderList] = [:]
    var actions: [(feature: String, action: Action)] = []
    var checks: [HealthCheck] = []
    var libraries: [Library] = []
    private var closings: [@Sendable () async -> Void] = []
    var problems: [CompositionProblem] = []
    /// The feature that is registering now.
    var current: Manifest
    var provided: Set<CapabilityType> = []

    init(surroundings: Surroundings, current: Manifest) {
        self.surroundings = surroundings
        self.current = current
    }

    /// Offers a capability that the manifest names.
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

    /// Adds something that `doctor` looks at.
    public mutating func add(_ check: HealthCheck) {
        checks.append(check)
    }

    /// Names a library that the feature is built on, with a way to ask for its version.
    public mutating func uses(_ library: Library) {
        libraries.append(library)
    }

    /// A value that the feature keeps when the settings change: it is made once in a session. Everything that is not
    /// shared is made again with the new settings.
    public func shared<Value: Sendable>(_ name: String, _ make: () -> Value) -> Value {
        surroundings.shared.value("\(current.id) \(name)", make)
    }

    /// Registers work that runs once when the composition closes, after the features that use this one have closed. It
    /// saves what must not be lost and releases what was opened, and costs nothing when nothing was.
    public mutating func closes(_ close: @escaping @Sendable () async -> Void) {
        closings.append(close)
    }

    mutating func takeClosings() -> [@Sendable () async -> Void] {
        defer { closings = [] }
        return closings
    }

    /// Ends the turn of one feature and begins that of the next.
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

    /// A fallback counts only while there is nothing else.
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
