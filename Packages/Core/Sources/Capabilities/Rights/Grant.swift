/// What a caller may do. This type alone decides it.
///
/// A grant consists of layers, and every layer must allow a request. A bundle run by another bundle is bound by both,
/// so rights can only shrink along the way.
public struct Grant: Sendable, Hashable {
    /// The rights of one of the parties on whose behalf something is done.
    public struct Layer: Sendable, Hashable {
        /// The party whose rights these are.
        public let holder: Holder
        /// The strongest effect that an action may have.
        public var effects: Effect
        /// Actions that are allowed whatever their effect: an id, or the beginning of one followed by `.*`.
        public var actions: [String]
        /// The servers that may be reached.
        public var hosts: Hosts
        /// Those hosts that the person has set up. Only they may resolve to addresses of this machine or its link
        /// without being named by address.
        public var setUp: [String]
        /// Where files may be opened; nil for everywhere that the system allows.
        public var folders: Folders?
        /// Patterns for the secrets whose values may be read; nil for all.
        public var secrets: [String]?
        /// Patterns for the programs that actions may run; nil for all.
        public var programs: [String]?
        /// What is allowed at one of our servers; nil for everything.
        public var scopes: Set<ClientScope>?
        /// Patterns, as `source/tool`, for the tools that models may use without confirmation; nil to leave that to the
        /// person's rules.
        public var tools: [String]?
        /// How much may be done before everything is refused; nil for no limit.
        public var limits: GrantLimits?

        /// By default actions may only read, and every server may be reached, but no folder, secret, program or tool.
        public init(
            _ holder: Holder, effects: Effect = .reads, actions: [String] = [], hosts: Hosts = .all,
            setUp: [String] = [], folders: Folders? = Folders(), secrets: [String]? = [], programs: [String]? = [],
            scopes: Set<ClientScope>? = nil, tools: [String]? = [], limits: GrantLimits? = nil
        ) {
            self.holder = holder
            self.effects = effects
            self.actions = actions
            self.hosts = hosts
            self.setUp = setUp
            self.folders = folders
            self.secrets = secrets
            self.programs = programs
            self.scopes = scopes
            self.tools = tools
            self.limits = limits
        }
    }

    /// Servers that may be reached, by patterns such as `*.example.com` or `localhost:8080`. A star alone does not
    /// cover this machine, its link or a cloud's metadata service; those must be named.
    public enum Hosts: Sendable, Hashable {
        /// Every server.
        case all
        /// The default: the servers that the person has set up.
        case setUp([String])
        /// The servers that match these patterns.
        case named([String])
    }

    /// The party that a layer restricts, used to explain a refusal.
    public enum Holder: Sendable, Hashable {
        /// The bundle with this name.
        case bundle(String)
        /// A client that presented the token of that name to one of our servers.
        case client(String)
        /// A model that uses actions as tools.
        case model
        /// Code that runs without a caller.
        case nobody
    }

    private(set) var layers: [Layer]

    /// The person's rights: everything that the system allows.
    public static let person = Grant(layers: [])

    /// A model's rights: the actions that declare themselves available to models.
    public static let model = Grant(Layer(.model, tools: nil))

    /// The rights of code without a caller: none.
    public static let nobody = Grant(Layer(.nobody, hosts: .named([]), scopes: []))

    /// The rights of a client at one of our servers: what its scopes open. A client requests only routes, so everything
    /// else is as the person has set it up.
    public static func client(_ name: String, scopes: Set<ClientScope>) -> Grant {
        Grant(
            Layer(
                .client(name), effects: .destroys, folders: nil, secrets: nil, programs: nil, scopes: scopes,
                tools: nil))
    }

    /// The rights of a single party.
    public init(_ layer: Layer) {
        layers = [layer]
    }

    private init(layers: [Layer]) {
        self.layers = layers
    }

    /// This grant, further restricted by another.
    public func narrowed(by other: Grant) -> Grant { Grant(layers: layers + other.layers) }

    /// Whether a request is allowed, with the rule that decides it.
    public func decide(_ request: GrantRequest) -> GrantDecision { objection(to: request) ?? .allow(rule: allowance) }

    /// The reason why a request is not allowed outright; nil if it is. Does not build the text of the allowing rule, so
    /// that the common case stays fast.
    private func objection(to request: GrantRequest) -> GrantDecision? {
        switch request {
        case .action(let id, let effect, let offer):
            for layer in layers {
                if let refusal = layer.refusal(ofAction: id, effect, offer) { return refusal }
            }
            return nil
        case .host(let host, let port):
            for layer in layers {
                if let refusal = layer.refusal(ofHost: host, port) { return refusal }
            }
            return nil
        case .address(let address, let port, let host):
            for layer in layers {
                if let refusal = layer.refusal(ofAddress: address, port, of: host) { return refusal }
            }
            return nil
        case .path(let path, let purpose): return objection(to: AbsolutePath(path), purpose)
        case .secret(let name):
            for layer in layers where layer.secrets?.contains(where: { Pattern.fits($0, name.text) }) == false {
                let shown = PlainText.escape(name.text)
                return .deny(
                    rule: "\(layer.holder.words) may not read the secret \(shown)",
                    mend: layer.mend("secrets", layer.secrets == [] ? "" : nil, shown))
            }
            return nil
        case .credential(let name):
            return refusalOfNobody("use the secret \(PlainText.escape(name.text))")
        case .child(let name):
            return refusalOfNobody("start \(PlainText.escape(name))")
        case .program(let name):
            for layer in layers where layer.programs?.contains(where: { Pattern.fits($0, name) }) == false {
                let shown = PlainText.escape(name)
                return .deny(
                    rule: "\(layer.holder.words) may not run the program \(shown)",
                    mend: layer.mend("programs", layer.programs == [] ? "" : nil, shown))
            }
            return nil
        case .network:
            for layer in layers {
                if let refusal = layer.refusalOfNetwork() { return refusal }
            }
            return nil
        case .route(let wanted):
            for layer in layers {
                guard let scopes = layer.scopes, scopes.isDisjoint(with: wanted) else { continue }
                let has = scopes.isEmpty ? "no scope" : "the scopes \(Self.words(scopes, "and"))"
                let scope = ClientScope.allCases.first(where: wanted.contains)
                let options = (scopes.union(scope.map { [$0] } ?? [])).options
                return .deny(
                    rule: "\(layer.holder.words) has \(has), and this needs \(Self.words(wanted, "or"))",
                    mend: "create a token that has it: martlet gateway token create NAME\(options)")
            }
            return nil
        case .tool(let use): return objection(to: use)
        }
    }

    private func objection(to path: AbsolutePath, _ purpose: PathPurpose) -> GrantDecision? {
        for layer in layers {
            if let refusal = layer.refusal(ofPath: path, purpose) { return refusal }
        }
        return nil
    }

    /// What the person has denied stays denied, and what their rules ask about is asked. Otherwise their rules and mode
    /// decide. What they allowed for themselves is not allowed for a bundle, which must permit it itself.
    private func objection(to use: ToolUse) -> GrantDecision? {
        switch use.ruling {
        case .deny?:
            return .deny(rule: "one of your rules denies it", mend: "'martlet chat approvals' shows how to remove it")
        case .ask?: return .ask(rule: "one of your rules asks first")
        case .allow?, nil: break
        }
        if let renewal = use.reach.renewal { return .ask(rule: renewal) }
        let isOwn = use.ruling == .allow || use.isWithinMode
        var isPermitted = false
        for layer in layers {
            guard let tools = layer.tools else { continue }
            if layer.holder == .nobody {
                return .deny(rule: "code without a caller may not use tools", mend: layer.mend("tools", nil, ""))
            }
            isPermitted = true
            if tools.contains(where: { Pattern.fits($0, "\(use.source)/\(use.tool)") }) { continue }
            // Such a tool reveals no more than the person lets every model see.
            if isOwn, use.effect == .reads, !use.sends { return nil }
            let shown = "\(PlainText.escape(use.source))/\(PlainText.escape(use.tool))"
            return .ask(rule: "\(layer.holder.words) does not permit the tool \(shown)")
        }
        if isOwn { return nil }
        if !isPermitted {
            let mode = use.mode.map { ", and the mode is \($0.rawValue)" } ?? ""
            return .ask(rule: "no rule and no grant permits it\(mode)")
        }
        return use.reach.command?.isSandboxed == false ? .ask(rule: "the command would run without a sandbox") : nil
    }

    /// Refuses code without a caller; every caller may do this.
    private func refusalOfNobody(_ what: @autoclosure () -> String) -> GrantDecision? {
        guard let nobody = layers.first(where: { $0.holder == .nobody }) else { return nil }
        return .deny(rule: "\(nobody.holder.words) may not \(what())", mend: nobody.mend("", nil, ""))
    }

    /// Counts an action or a tool call.
    ///
    /// - Throws: `AccessFailure` if a limit is exceeded.
    public func use() throws(AccessFailure) {
        for layer in layers {
            if let excess = layer.limits?.use() { throw layer.refusal(of: excess) }
        }
    }

    /// Whether it can end while something is done with it.
    package var canEnd: Bool { layers.contains { $0.limits != nil } }

    /// Waits until it allows nothing any more, and returns why.
    package func end() async throws -> AccessFailure {
        try await withThrowingTaskGroup(of: AccessFailure.self) { group in
            for layer in layers {
                guard let limits = layer.limits else { continue }
                group.addTask { layer.refusal(of: try await limits.end()) }
            }
            defer { group.cancelAll() }
            guard let first = try await group.next() else { throw CancellationError() }
            return first
        }
    }

    /// Throws if the request is denied or would need confirmation.
    public func check(_ request: GrantRequest) throws(AccessFailure) {
        let objection = objection(to: request)
        if case .tool(let use) = request, case .ask(let rule)? = objection, let mend = mend(for: use) {
            throw AccessFailure(rule: rule, mend: mend)
        }
        try refuse(objection)
    }

    /// The line that would permit a tool; nil if it is asked about whatever a bundle permits.
    private func mend(for use: ToolUse) -> String? {
        guard use.ruling != .ask, use.reach.renewal == nil else { return nil }
        let name = "\(use.source)/\(use.tool)"
        for layer in layers {
            guard let tools = layer.tools, !tools.contains(where: { Pattern.fits($0, name) }) else { continue }
            return layer.mend("tools", tools.isEmpty ? "" : nil, PlainText.escape(name))
        }
        return nil
    }

    /// The same for a path that is already resolved.
    func check(_ path: AbsolutePath, _ purpose: PathPurpose) throws(AccessFailure) {
        try refuse(objection(to: path, purpose))
    }

    private func refuse(_ objection: GrantDecision?) throws(AccessFailure) {
        switch objection {
        case nil, .allow?: return
        case .ask(let rule): throw AccessFailure(rule: rule, mend: "do it yourself")
        case .deny(let rule, let mend): throw AccessFailure(rule: rule, mend: mend)
        }
    }

    /// Throws if the request is denied. The person has written it, so that nobody need confirm it.
    public func checkUnasked(_ request: GrantRequest) throws(AccessFailure) {
        if case .deny(let rule, let mend) = objection(to: request) { throw AccessFailure(rule: rule, mend: mend) }
    }

    /// Throws if an action may not be performed. The request is not even built if everything is allowed.
    package func check(action id: String, _ effect: Effect, _ offer: ActionOffer) throws(AccessFailure) {
        if layers.isEmpty { return }
        try check(.action(id, effect, offer))
    }

    /// Throws if an action may not be given these arguments. The requests are not even built if everything is allowed.
    package func check(_ requests: @autoclosure () -> [GrantRequest]) throws(AccessFailure) {
        if layers.isEmpty { return }
        for request in requests() { try check(request) }
    }

    private static func words(_ scopes: Set<ClientScope>, _ last: String) -> String {
        let words = ClientScope.allCases.filter(scopes.contains).map(\.rawValue)
        guard words.count > 1 else { return words.first ?? "none" }
        return words.dropLast().joined(separator: ", ") + " \(last) " + words[words.count - 1]
    }

    private var allowance: String {
        if layers.isEmpty { return "you may do everything" }
        return layers.map { layer in
            switch layer.holder {
            case .model: "offered to models"
            case .bundle, .client, .nobody: "permitted by \(layer.holder.words)"
            }
        }.joined(separator: " and ")
    }
}

extension Grant.Layer {
    fileprivate func refusal(of excess: GrantLimits.Excess) -> AccessFailure {
        let isBundle = if case .bundle = holder { true } else { false }
        func raise(_ key: String) -> String { isBundle ? "raise permissions.\(key)" : "do it yourself" }
        return switch excess {
        case .calls(let most):
            AccessFailure(
                rule: "\(holder.words) may not do more than \(most) actions and tool calls", mend: raise("calls"))
        case .time(let most):
            AccessFailure(rule: "\(holder.words) may not run for longer than \(most.words)", mend: raise("time"))
        case .withdrawn:
            AccessFailure(
                rule: "\(holder.words) was allowed this until its rights were withdrawn", mend: "do it yourself")
        }
    }

    fileprivate func refusal(ofAction id: String, _ effect: Effect, _ offer: ActionOffer) -> GrantDecision? {
        switch holder {
        case .model where offer == .models: return nil
        case .model:
            return .deny(
                rule: "not offered to models",
                mend: "do it yourself: martlet \(id.split(separator: ".").joined(separator: " "))")
        case .nobody: return .deny(rule: "\(id) has no caller", mend: "perform it as a caller of a session")
        case .bundle, .client:
            if offer == .byName {
                if actions.contains(id) { return nil }
                return .deny(
                    rule: "\(id) changes what others may do, and \(holder.words) does not name it",
                    mend: mend("actions", actions.isEmpty ? "" : nil, id))
            }
            if effect <= effects || actions.contains(where: { Self.covers($0, id) }) { return nil }
            let isBundle = if case .bundle = holder { true } else { false }
            return .deny(
                rule: "\(id) \(effect.rawValue) something, and \(holder.words) does not permit it",
                mend: isBundle
                    ? "add it to permissions.actions, or set permissions.effects to \(effect.rawValue)"
                    : "do it yourself")
        }
    }

    fileprivate func refusal(ofPath path: AbsolutePath, _ purpose: PathPurpose) -> GrantDecision? {
        guard let folders else { return nil }
        // Built only for refusals, so that allowed requests do not wait for it.
        var shown: String { PlainText.escape(path.text) }
        let verb = purpose == .write ? "write" : "read"
        if purpose == .own {
            return .deny(
                rule: "\(holder.words) may not pass on \(shown), which could lead elsewhere by then",
                mend: "do it yourself")
        }
        let holdsClosed = purpose == .tree && folders.closesSomething(beneath: path)
        // Checked before the folders, so that nobody is told to add a folder that would not help.
        if holdsClosed || folders.closes(path, isWriting: purpose == .write) {
            return .deny(
                rule: "\(holder.words) may not \(verb) \(shown), which "
                    + (holdsClosed ? "contains files of this program" : "belongs to this program or to git"),
                mend: "do it yourself; no bundle may")
        }
        guard folders.have(path) else {
            let folder = purpose == .tree ? path : path.folder
            return .deny(
                rule: "\(holder.words) may not \(verb) \(shown)",
                mend: folder == AbsolutePath("/")
                    ? "do it yourself"
                    : mend("paths", folders.isDefault ? "., " : nil, PlainText.escape(folder.text)))
        }
        return nil
    }

    /// Whether a server may be reached. A pattern without a port covers all ports.
    fileprivate func refusal(ofHost host: String, _ port: Int) -> GrantDecision? {
        let patterns: [String]
        let isDefault: Bool
        switch hosts {
        case .all: return nil
        case .setUp(let servers): (patterns, isDefault) = (servers, true)
        case .named(let named): (patterns, isDefault) = (named, false)
        }
        let isConfined = host.isOfThisMachine || NetworkAddress(host)?.isConfined == true
        if patterns.map(HostPattern.init).contains(where: { $0.fits(host, port) && ($0.isExplicit || !isConfined) }) {
            return nil
        }
        let shown = Self.shown(host, port)
        return .deny(
            rule: "\(holder.words) may not connect to \(shown)",
            mend: mend("hosts", isDefault ? "set-up, " : nil, shown))
    }

    /// Whether a server may be reached at the address that its name resolved to.
    fileprivate func refusal(ofAddress address: String, _ port: Int, of host: String) -> GrantDecision? {
        let patterns: [HostPattern]
        switch hosts {
        case .all, .setUp: return nil
        case .named(let named): patterns = named.map(HostPattern.init).filter(\.isExplicit)
        }
        guard NetworkAddress(address)?.isConfined == true else { return nil }
        if setUp.contains(where: { HostPattern($0).fits(host, port) }) { return nil }
        let isMeant = host.isOfThisMachine || NetworkAddress(host)?.isConfined == true
        if patterns.contains(where: { $0.fits(address, port) || isMeant && $0.fits(host, port) }) { return nil }
        let shown = Self.shown(address, port)
        return .deny(
            rule: "\(holder.words) may not connect to \(shown), the address of \(PlainText.escape(host))",
            mend: mend("hosts", nil, shown))
    }

    private static func shown(_ host: String, _ port: Int) -> String {
        "\(PlainText.escape(host.contains(":") ? "[\(host)]" : host)):\(port)"
    }

    fileprivate func refusalOfNetwork() -> GrantDecision? {
        switch hosts {
        case .all: return nil
        case .named(let patterns) where patterns.contains("*"): return nil
        case .named, .setUp:
            let defaultValue: String? = if case .setUp = hosts { "" } else { nil }
            return .deny(
                rule: "\(holder.words) may not give a program access to the whole network",
                mend: mend("hosts", defaultValue, "*"))
        }
    }

    /// The line that would permit the request. If the list does not exist yet, the line repeats the default so that it
    /// stays permitted.
    fileprivate func mend(_ key: String, _ defaultValue: String?, _ missing: String) -> String {
        if holder == .nobody { return "do it in an action, or bind a caller" }
        guard case .bundle = holder else { return "do it yourself" }
        let quoted = "\"\(missing.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\\\""))\""
        guard let defaultValue else { return "add \(quoted) to permissions.\(key)" }
        return "add \(key): [\(defaultValue)\(quoted)] to permissions"
    }

    private static func covers(_ pattern: String, _ action: String) -> Bool {
        if pattern == "*" { return true }
        guard pattern.hasSuffix(".*") else { return pattern == action }
        return action.hasPrefix(pattern.dropLast())
    }
}

extension Set<ClientScope> {
    /// As command-line options.
    fileprivate var options: String {
        ClientScope.allCases.filter(contains).map { " --scope \($0.rawValue)" }.joined()
    }
}

extension Grant.Holder {
    var words: String {
        switch self {
        case .bundle(let name): "the bundle \(PlainText.escape(name).quotedForMessage)"
        case .client(let name): "the token \(PlainText.escape(name).quotedForMessage)"
        case .model: "a model"
        case .nobody: "code without a caller"
        }
    }
}

/// Patterns in which `*` matches anything, slashes too, and nothing else is special. `Glob`, the syntax of the
/// person's rules, has more special characters, so the same text could match something else.
private enum Pattern {
    static func fits(_ pattern: some StringProtocol, _ text: some StringProtocol) -> Bool {
        let (pattern, text) = (Array(pattern.utf8), Array(text.utf8))
        var (place, next) = (0, 0)
        // Where the last star is and how much it has matched; it matches more only if nothing else fits.
        var star: (place: Int, taken: Int)?
        while next < text.count {
            if place < pattern.count, pattern[place] == UInt8(ascii: "*") {
                star = (place, next)
                place += 1
            } else if place < pattern.count, pattern[place] == text[next] {
                place += 1
                next += 1
            } else if let (before, taken) = star {
                star = (before, taken + 1)
                (place, next) = (before + 1, taken + 1)
            } else {
                return false
            }
        }
        return pattern[place...].allSatisfy { $0 == UInt8(ascii: "*") }
    }
}

/// A pattern for servers: a name or an address, optionally in brackets, and a port. Without a port it covers all ports.
private struct HostPattern {
    private let host: Substring
    private let port: Substring?

    init(_ text: String) {
        let text = text.lowercased()
        // The colons of an IPv6 address do not separate a port, unless the address is in brackets.
        let end = text.first == "[" ? text.firstIndex(of: "]") : nil
        let rest = end.map { text[text.index(after: $0)...] } ?? text[...]
        let colon = end != nil || rest.count(where: { $0 == ":" }) == 1 ? rest.firstIndex(of: ":") : nil
        port = colon.map { text[text.index(after: $0)...] }
        host = end.map { text[..<$0].dropFirst() } ?? text[..<(colon ?? text.endIndex)]
    }

    /// Whether the pattern names addresses or this machine explicitly, instead of matching them by accident.
    var isExplicit: Bool {
        if host.hasSuffix("localhost") || host.hasSuffix("localhost.") || host.isNumeric { return true }
        return host.contains(":") && (host.hasPrefix("::") || host.contains(where: \.isHexDigit))
    }

    func fits(_ host: String, _ port: Int) -> Bool {
        // A pattern of digits stands for addresses, not for names that begin with digits.
        if self.host.isNumeric, !host[...].isNumeric { return false }
        return Pattern.fits(self.host, host[...]) && self.port.map { Pattern.fits($0, "\(port)"[...]) } != false
    }
}

extension Substring {
    /// Whether it consists of digits, dots and stars.
    fileprivate var isNumeric: Bool {
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        return utf8.contains { digits ~= $0 } && utf8.allSatisfy { digits ~= $0 || ".*".utf8.contains($0) }
    }
}

extension String {
    /// Whether the name stands for this machine on every system.
    fileprivate var isOfThisMachine: Bool {
        self == "localhost" || hasSuffix(".localhost") || self == "localhost." || hasSuffix(".localhost.")
    }
}
