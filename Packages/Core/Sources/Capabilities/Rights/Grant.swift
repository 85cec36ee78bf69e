/// What somebody may do. It is decided here and nowhere else.
///
/// It is made of layers, of which each has to allow what is wanted: a bundle that another one runs is bound by both. So a
/// grant only ever shrinks on its way in.
public struct Grant: Sendable, Hashable {
    /// What one of those through whom somebody acts may do.
    public struct Layer: Sendable, Hashable {
        public let holder: Holder
        /// The farthest that any action may go.
        public var effects: Effect
        /// Actions that may do whatever they do: an id, or the beginning of one and `.*`.
        public var actions: [String]
        public var hosts: Hosts
        /// Of the hosts those that the person has set up: only they may be at addresses of this machine or its link
        /// without that these are named.
        public var setUp: [String]
        /// Where files may be opened; nil for wherever the system lets the program.
        public var folders: Folders?
        /// Patterns for the names of secrets whose values may be had; nil for all.
        public var secrets: [String]?
        /// Patterns for the programs that actions may run; nil for all.
        public var programs: [String]?
        /// What may be done at a server of ours; nil for everything.
        public var scopes: Set<ClientScope>?
        /// Patterns for the tools that models may use without anybody being asked, as `source/tool`; nil where the layer
        /// leaves that to the person's own rules.
        public var tools: [String]?
        /// How much may be done before everything is refused; nil for no limit.
        public var limits: GrantLimits?

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

    /// Servers that may be spoken to, by patterns such as `*.example.com` or `localhost:8080`. A star alone is not this
    /// machine, its link or what a cloud tells a machine about itself, which have to be named.
    public enum Hosts: Sendable, Hashable {
        case all
        /// Those that the person has set up, as nobody has said more.
        case setUp([String])
        case named([String])
    }

    /// Whom a layer binds, by which a refusal is explained.
    public enum Holder: Sendable, Hashable {
        case bundle(String)
        /// A client that showed the token of that name to a server of ours.
        case client(String)
        case model
        /// Code that runs for no caller.
        case nobody
    }

    private(set) var layers: [Layer]

    /// What the person may: whatever the system lets them do.
    public static let person = Grant(layers: [])

    /// What a model may do by itself: the actions that say they may be offered to models.
    public static let model = Grant(Layer(.model, tools: nil))

    /// What code may do that runs for no caller: nothing.
    public static let nobody = Grant(Layer(.nobody, hosts: .named([]), scopes: []))

    /// What a client of a server of ours may do there: what its scopes open. It asks for routes only, so that all else is
    /// as the person has set it up.
    public static func client(_ name: String, scopes: Set<ClientScope>) -> Grant {
        Grant(
            Layer(
                .client(name), effects: .destroys, folders: nil, secrets: nil, programs: nil, scopes: scopes,
                tools: nil))
    }

    public init(_ layer: Layer) {
        layers = [layer]
    }

    private init(layers: [Layer]) {
        self.layers = layers
    }

    /// What of this another grant leaves.
    public func narrowed(by other: Grant) -> Grant { Grant(layers: layers + other.layers) }

    /// Whether something may be done, and which rule says so.
    public func decide(_ request: GrantRequest) -> GrantDecision { objection(to: request) ?? .allow(rule: allowance) }

    /// What keeps something from being done without more ado; nil where nothing does. Who only wants to go on is not made to
    /// wait for the words of the rule that lets them.
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
        case .path(let path, let purpose):
            for layer in layers {
                if let refusal = layer.refusal(ofPath: path, purpose) { return refusal }
            }
            return nil
        case .secret(let name):
            for layer in layers where layer.secrets?.contains(where: { Pattern.fits($0, name.text) }) == false {
                let shown = PlainText.escape(name.text)
                return .deny(
                    rule: "\(layer.holder.words) may not have the secret \(shown)",
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
                    mend: "make a token that has it: martlet gateway token create NAME\(options)")
            }
            return nil
        case .tool(let use): return objection(to: use)
        }
    }

    /// What the person has denied stays denied, and what their rules ask is asked. The rest goes by their rules and their
    /// mode; what they allow for themselves, they have not allowed for a bundle, which has to say so itself.
    private func objection(to use: ToolUse) -> GrantDecision? {
        switch use.ruling {
        case .deny?:
            return .deny(rule: "a rule of yours denies it", mend: "'martlet chat approvals' shows what takes it back")
        case .ask?: return .ask(rule: "a rule of yours asks")
        case .allow?, nil: break
        }
        let isOwn = use.ruling == .allow || use.isWithinMode
        var isPermitted = false
        for layer in layers {
            guard let tools = layer.tools else { continue }
            if layer.holder == .nobody {
                return .deny(rule: "nobody asks for a tool", mend: layer.mend("tools", nil, ""))
            }
            isPermitted = true
            if tools.contains(where: { Pattern.fits($0, "\(use.source)/\(use.tool)") }) { continue }
            // It tells no more than the person lets every model see.
            if isOwn, use.effect == .reads, !use.sends { return nil }
            let shown = "\(PlainText.escape(use.source))/\(PlainText.escape(use.tool))"
            return .ask(rule: "\(layer.holder.words) does not permit the tool \(shown)")
        }
        if isOwn { return nil }
        if !isPermitted {
            let mode = use.mode.map { ", and the mode is \($0.rawValue)" } ?? ""
            return .ask(rule: "no rule and no grant permits it\(mode)")
        }
        return use.reach.command?.isSandboxed == false ? .ask(rule: "no sandbox keeps the command from anything") : nil
    }

    /// What every caller may do.
    private func refusalOfNobody(_ what: @autoclosure () -> String) -> GrantDecision? {
        guard let nobody = layers.first(where: { $0.holder == .nobody }) else { return nil }
        return .deny(rule: "\(nobody.holder.words) may not \(what())", mend: nobody.mend("", nil, ""))
    }

    /// Counts an action or a tool call.
    ///
    /// - Throws: where a limit leaves nothing more.
    public func use() throws(AccessFailure) {
        for layer in layers {
            guard let (what, key) = layer.limits?.use() else { continue }
            let mend = if case .bundle = layer.holder { "raise permissions.\(key)" } else { "do it yourself" }
            throw AccessFailure(rule: "\(layer.holder.words) may not \(what)", mend: mend)
        }
    }

    /// Throws when something of this may not be done, or not without somebody who agrees to it.
    public func check(_ request: GrantRequest) throws(AccessFailure) {
        switch objection(to: request) {
        case nil, .allow?: return
        case .ask(let rule): throw AccessFailure(rule: rule, mend: "do it yourself")
        case .deny(let rule, let mend): throw AccessFailure(rule: rule, mend: mend)
        }
    }

    /// Throws when an action may not be given these arguments. Who may do everything is not kept waiting.
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
    fileprivate func refusal(ofAction id: String, _ effect: Effect, _ offer: ActionOffer) -> GrantDecision? {
        switch holder {
        case .model where offer == .models: return nil
        case .model:
            return .deny(
                rule: "not offered to models",
                mend: "do it yourself: martlet \(id.split(separator: ".").joined(separator: " "))")
        case .nobody: return .deny(rule: "nobody asks for \(id)", mend: "perform it as a caller of a session")
        case .bundle, .client:
            if offer == .byName {
                if actions.contains(id) { return nil }
                return .deny(
                    rule: "\(id) changes what others may do, and \(holder.words) does not name it",
                    mend: mend("actions", actions.isEmpty ? "" : nil, id))
            }
            if effect <= effects || actions.contains(where: { Self.covers($0, id) }) { return nil }
            return .deny(
                rule: "\(id) \(effect.rawValue) something, and \(holder.words) does not permit it",
                mend: "add it to permissions.actions, or set permissions.effects to \(effect.rawValue)")
        }
    }

    fileprivate func refusal(ofPath text: String, _ purpose: PathPurpose) -> GrantDecision? {
        guard let folders else { return nil }
        let path = AbsolutePath(text)
        // Words are for refusals: nobody who may go on waits for them.
        var shown: String { PlainText.escape(text) }
        let verb = purpose == .write ? "write" : "read"
        if purpose == .own {
            return .deny(
                rule: "\(holder.words) may not hand on \(shown), which could lead elsewhere by then",
                mend: "do it yourself")
        }
        let holdsClosed = purpose == .tree && folders.closesSomething(beneath: path)
        // Before the folders: nobody is told to name one that would be of no use.
        if holdsClosed || folders.closes(path, isWriting: purpose == .write) {
            return .deny(
                rule: "\(holder.words) may not \(verb) \(shown), which "
                    + (holdsClosed ? "holds files of this program" : "belongs to this program or to git"),
                mend: "do it yourself, as no bundle may")
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

    /// Whether a server may be spoken to. A pattern without a port means all of them.
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
            rule: "\(holder.words) may not speak to \(shown)",
            mend: mend("hosts", isDefault ? "set-up, " : nil, shown))
    }

    /// Whether a server may be spoken to at the address to which its name has led.
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
            rule: "\(holder.words) may not speak to \(shown), to which \(PlainText.escape(host)) leads",
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
            let standard: String? = if case .setUp = hosts { "" } else { nil }
            return .deny(
                rule: "\(holder.words) may not let a program speak to whom it wants", mend: mend("hosts", standard, "*")
            )
        }
    }

    /// The line that would permit it. Where a list has not been written yet, what is permitted without it has to be on it.
    fileprivate func mend(_ key: String, _ standard: String?, _ missing: String) -> String {
        if holder == .nobody { return "do it in an action, or bind a caller" }
        guard case .bundle = holder else { return "do it yourself" }
        let quoted = "\"\(missing.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\\\""))\""
        guard let standard else { return "add \(quoted) to permissions.\(key)" }
        return "add \(key): [\(standard)\(quoted)] to permissions"
    }

    private static func covers(_ pattern: String, _ action: String) -> Bool {
        if pattern == "*" { return true }
        guard pattern.hasSuffix(".*") else { return pattern == action }
        return action.hasPrefix(pattern.dropLast())
    }
}

extension Set<ClientScope> {
    /// As the command line wants them.
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
        case .nobody: "code that runs for no caller"
        }
    }
}

/// Words in which `*` stands for anything.
private enum Pattern {
    static func fits(_ pattern: some StringProtocol, _ text: some StringProtocol) -> Bool {
        let (pattern, text) = (Array(pattern.utf8), Array(text.utf8))
        var (place, next) = (0, 0)
        // Where the last star stands, and what it has taken so far: it takes more only when nothing else helps.
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

/// A server or several: a name or an address, in brackets or not, and a port. Without a port all of them are meant.
private struct HostPattern {
    private let host: Substring
    private let port: Substring?

    init(_ text: String) {
        let text = text.lowercased()
        // The colons of an address are none before a port, unless it stands in brackets.
        let end = text.first == "[" ? text.firstIndex(of: "]") : nil
        let rest = end.map { text[text.index(after: $0)...] } ?? text[...]
        let colon = end != nil || rest.count(where: { $0 == ":" }) == 1 ? rest.firstIndex(of: ":") : nil
        port = colon.map { text[text.index(after: $0)...] }
        host = end.map { text[..<$0].dropFirst() } ?? text[..<(colon ?? text.endIndex)]
    }

    /// Whether it means addresses or this machine as such, and does not only happen to fit them.
    var isExplicit: Bool {
        if host.hasSuffix("localhost") || host.hasSuffix("localhost.") || host.isNumeric { return true }
        return host.contains(":") && (host.hasPrefix("::") || host.contains(where: \.isHexDigit))
    }

    func fits(_ host: String, _ port: Int) -> Bool {
        // One of digits means addresses, and no name that begins with some.
        if self.host.isNumeric, !host[...].isNumeric { return false }
        return Pattern.fits(self.host, host[...]) && self.port.map { Pattern.fits($0, "\(port)"[...]) } != false
    }
}

extension Substring {
    /// Whether it is made of digits, dots and stars.
    fileprivate var isNumeric: Bool {
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        return utf8.contains { digits ~= $0 } && utf8.allSatisfy { digits ~= $0 || ".*".utf8.contains($0) }
    }
}

extension String {
    /// Whether it is a name that means this machine wherever it is asked for.
    fileprivate var isOfThisMachine: Bool {
        self == "localhost" || hasSuffix(".localhost") || self == "localhost." || hasSuffix(".localhost.")
    }
}
