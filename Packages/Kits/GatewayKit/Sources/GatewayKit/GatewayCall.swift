import Capabilities
import HTTPClient
import HTTPCore
import JSON

/// A request to a gateway, independent of the server and the credential.
struct GatewayCall {
    var method: HTTPMethod
    /// The path below `/v1`, escaped, with a leading slash.
    var path: String
    var query: [(name: String, value: String)] = []
    var body = HTTPBody.none
    var headers: HTTPHeaders = [:]
    /// What the path names, and its id: if the server does not find it, that is the error.
    var subject: AgentSubject?
    var id = ""
    /// Whether every 404 means that the route is missing: one that another route shadows finds something else.
    var isShadowed = false
    /// Whether the route is beside `/v1` instead of below it.
    var isAtRoot = false
    var largest = GatewayCall.largestAnswer

    /// The limit of every answer but files. A page of a hundred rows has some kilobytes.
    static let largestAnswer = 8 << 20

    init(_ method: HTTPMethod, _ path: String, _ subject: AgentSubject? = nil, _ id: String = "") {
        self.method = method
        self.path = path
        self.subject = subject
        self.id = id
    }

    /// Adds a pair to the query, or nothing if there is no value.
    mutating func add(_ name: String, _ value: String?) {
        if let value { query.append((name, value)) }
    }

    func with(_ name: String, _ value: String?) -> GatewayCall {
        var call = self
        call.add(name, value)
        return call
    }

    func sending(_ json: JSONObject) -> GatewayCall {
        var call = self
        call.body = .text(JSON.object(json).text())
        call.headers["Content-Type"] = "application/json"
        return call
    }
}

/// An id as one part of a path.
///
/// A server's own ids are words, but what is passed in here may be anything, such as the header of a hostile server. An
/// id that could lead elsewhere once a proxy has decoded it is no id of anything.
enum PathWord {
    /// The escaped id; nil if it cannot be one.
    ///
    /// - Parameter mayHaveSlash: for the ids of models and tool servers, which are names such as `team/model`.
    static func escaped(_ id: String, mayHaveSlash: Bool = false) -> String? {
        guard !id.isEmpty, id.utf8.count <= 400, !PlainText.hidesSomething(id) else { return nil }
        guard !id.split(separator: "/", omittingEmptySubsequences: false).contains(where: { $0.isDots || $0.isEmpty })
        else { return nil }
        guard mayHaveSlash || !id.utf8.contains(UInt8(ascii: "/")), !id.utf8.contains(UInt8(ascii: "\\")) else {
            return nil
        }
        return PercentEncoding.encode(id)
    }

    /// A path of a file relative to a folder, with every part escaped; nil if it leads out of the folder.
    static func escaped(path: String) -> String? {
        guard AgentFile.isPath(path) else { return nil }
        return path.split(separator: "/").map { PercentEncoding.encode(String($0)) }.joined(separator: "/")
    }
}

extension Substring {
    /// Whether an address treats it as the same or the upper folder.
    fileprivate var isDots: Bool { self == "." || self == ".." }
}

extension PlainText {
    /// Whether a text has control characters or others that are not shown.
    static func hidesSomething(_ text: String) -> Bool { escape(text) != text }
}
