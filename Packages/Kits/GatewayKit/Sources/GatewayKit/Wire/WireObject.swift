import Capabilities
import JSON

/// An object of a gateway, read tolerantly: in snake case or camel case, with members that may be missing, null or of an
/// implausible size.
struct WireObject {
    let members: JSONObject

    init(_ members: JSONObject) {
        self.members = members
    }

    init?(_ json: JSON) {
        guard let members = json.object else { return nil }
        self.init(members)
    }

    /// The value of a member; nil if it is missing or null.
    ///
    /// - Parameter name: in snake case.
    subscript(_ name: String) -> JSON? {
        members[name]?.unlessNull ?? members[Self.camelCase(name)]?.unlessNull
    }

    /// A text that is not empty, or a number as text.
    func text(_ name: String) -> String? {
        guard let text = self[name]?.string ?? self[name]?.int.map(String.init), !text.isEmpty else { return nil }
        return text
    }

    func flag(_ name: String) -> Bool? { self[name]?.bool }

    /// A number from zero on. Servers make mistakes, and a single one must not overflow a sum.
    func count(_ name: String) -> Int? {
        let number = self[name]?.int ?? self[name]?.double.flatMap { Int(exactly: $0.rounded()) }
        return number.flatMap { 0...(1 << 40) ~= $0 ? $0 : nil }
    }

    /// An amount in US dollars.
    func cost(_ name: String) -> Cost? {
        guard let dollars = self[name]?.double, 0...1e9 ~= dollars else { return nil }
        return Cost(nanodollars: Int((dollars * 1e9).rounded()))
    }

    /// A time. One without a zone is in UTC.
    func time(_ name: String) -> Timestamp? {
        if let text = self[name]?.string { return Timestamp(iso8601: text) ?? Timestamp(iso8601: text + "Z") }
        guard let seconds = self[name]?.double, 0...1e11 ~= seconds else { return nil }
        return Timestamp(microseconds: Int64(seconds * 1e6))
    }

    /// Texts of an array; others in it are skipped.
    func names(_ name: String) -> [String]? { self[name]?.array?.compactMap(\.string) }

    private static func camelCase(_ name: String) -> String {
        let parts = name.split(separator: "_")
        return parts.dropFirst().reduce(into: String(parts.first ?? "")) { text, part in
            text += part.prefix(1).uppercased() + part.dropFirst()
        }
    }
}

/// What gateways of the plain dialect always report as zero, because they do not know it.
extension WireObject {
    /// Whether the object is of a gateway that counts. Its objects have members that those of others lack.
    private var isCounted: Bool {
        ["object", "total_sessions", "open_approvals"].contains { members[$0] != nil }
    }

    func spentTokens(_ name: String = "total_tokens") -> Int? { count(name).flatMap { known($0, isZero: $0 == 0) } }

    func spentCost(_ name: String = "total_cost") -> Cost? {
        cost(name).flatMap { known($0, isZero: $0.nanodollars == 0) }
    }

    private func known<Value>(_ value: Value, isZero: Bool) -> Value? { isZero && !isCounted ? nil : value }
}

/// The answer to a list: an array, or an object with an array and the position of the page.
struct WirePage {
    /// The rows that are objects.
    let rows: [WireObject]
    let hasNext: Bool

    /// The rows of a page, as many as gateways allow.
    static let size = 100
    /// The most pages of a list.
    static let most = 50

    /// Nil if the answer is no list.
    init?(_ json: JSON) {
        guard let array = json.array ?? json.object.flatMap(Self.array) else { return nil }
        rows = array.compactMap { WireObject($0) }
        let position = (json["pagination"] ?? json).object.map { WireObject($0) }
        hasNext = position?.flag("has_next") ?? false
    }

    /// The rows under the usual name, else those of the only array.
    private static func array(of object: JSONObject) -> [JSON]? {
        if let rows = object["data"]?.array ?? object["items"]?.array { return rows }
        let arrays = object.keys.compactMap { object[$0]?.array }
        return arrays.count == 1 ? arrays.first : nil
    }
}
