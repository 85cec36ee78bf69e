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
        /// Patterns for servers, as `*.example.com` or `localhost:8080`; nil for all that there are.
        public var hosts: [String]?
        /// Patterns for the tools that models may use without anybody being asked, as `source/tool`.
        public var tools: [String]

        public init(
            _ holder: Holder, effects: Effect = .reads, actions: [String] = [], hosts: [String]? = nil,
            tools: [String] = []
        ) {
            self.holder = holder
            self.effects = effects
            self.actions = actions
            self.hosts = hosts
            self.tools = tools
        }
    }

    /// Whom a layer binds, by which a refusal is explained.
    public enum Holder: Sendable, Hashable {
        case bundle(String)
        case model
    }

    private var layers: [Layer]

    /// What the person may: everything. Who is nobody's bundle and no model is bound by what the system lets them do.
    public static let person = Grant(layers: [])

    /// What a model may do by itself: the actions that say they may be offered to models.
    public static let model = Grant(Layer(.model))

    public init(_ layer: Layer) {
        layers = [layer]
    }

    private init(layers: [Layer]) {
        self.layers = layers
    }

    /// What of this another grant leaves.
    public func narrowed(by other: Grant) -> Grant { Grant(layers: layers + other.layers) }

    /// Whether something may be done, and which rule says so.
    public func decide(_ request: GrantRequest) -> GrantDecision {
        switch request {
        case .action(let id, let effect, let isForModels):
            for layer in layers {
                if let refusal = layer.refusal(ofAction: id, effect, isForModels: isForModels) { return refusal }
            }
            return .allow(rule: allowance)
        case .host(let host, let port):
            for layer in layers where !layer.allows(host: host, port: port) {
                let name = host.contains(":") ? "[\(host)]" : host
                return .deny(
                    rule: "\(layer.holder.words) may not speak to \(PlainText.escape(name)):\(port)",
                    mend: "add it to permissions.hosts")
            }
            return .allow(rule: allowance)
        case .tool(let name, let source):
            let isListed = layers.allSatisfy { layer in
                layer.tools.contains { Pattern.fits($0, "\(source)/\(name)") }
            }
            if isListed, !layers.isEmpty { return .allow(rule: allowance) }
            return .ask(rule: "nobody has agreed to it beforehand")
        }
    }

    private var allowance: String {
        if layers.isEmpty { return "you may do everything" }
        return layers.map { layer in
            switch layer.holder {
            case .model: "offered to models"
            case .bundle: "permitted by \(layer.holder.words)"
            }
        }.joined(separator: " and ")
    }
}

extension Grant.Layer {
    fileprivate func refusal(ofAction id: String, _ effect: Effect, isForModels: Bool) -> GrantDecision? {
        switch holder {
        case .model where isForModels: return nil
        case .model:
            return .deny(
                rule: "not offered to models",
                mend: "do it yourself: martlet \(id.split(separator: ".").joined(separator: " "))")
        case .bundle:
            if effect <= effects || actions.contains(where: { Self.covers($0, id) }) { return nil }
            return .deny(
                rule: "\(id) \(effect.rawValue) something, and \(holder.words) does not permit it",
                mend: "add it to permissions.actions, or set permissions.effects to \(effect.rawValue)")
        }
    }

    /// Whether a server may be spoken to. A pattern without a port means all of them.
    fileprivate func allows(host: String, port: Int) -> Bool {
        guard let hosts else { return true }
        let name = host.contains(":") ? "[\(host)]" : host
        return hosts.contains { pattern in
            let pattern = pattern.lowercased()
            return Pattern.fits(pattern, host) || Pattern.fits(pattern, "\(name):\(port)")
                || Pattern.fits(pattern, name)
        }
    }

    private static func covers(_ pattern: String, _ action: String) -> Bool {
        if pattern == "*" { return true }
        guard pattern.hasSuffix(".*") else { return pattern == action }
        return action.hasPrefix(pattern.dropLast())
    }
}

extension Grant.Holder {
    fileprivate var words: String {
        switch self {
        case .bundle(let name): "the bundle \(PlainText.escape(name).quotedForMessage)"
        case .model: "a model"
        }
    }
}

/// Words in which `*` stands for anything.
private enum Pattern {
    static func fits(_ pattern: String, _ text: String) -> Bool {
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
