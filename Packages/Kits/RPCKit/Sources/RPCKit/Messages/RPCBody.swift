import Capabilities
public import JSON

/// What one text contains: one message, or a batch of them.
public struct RPCBody: Sendable, Hashable {
    /// The messages, in their order, and what could not be read in their place.
    public let parts: [Part]
    /// Whether the text is an array, so that the answers belong into one too.
    public let isBatch: Bool

    /// A message, or what came instead of one.
    public enum Part: Sendable, Hashable {
        case message(RPCMessage)
        case malformed(RPCMalformed)
    }

    /// The largest number of messages in a batch.
    public static let mostMessages = 1_000

    /// Reads a text in UTF-8. Nothing in it can make this fail: what is wrong becomes a part.
    public init(_ bytes: [UInt8]) {
        let json: JSON
        do throws(JSONError) {
            json = try JSON(parsing: bytes, reading: .message)
        } catch {
            let malformed = RPCMalformed(
                RPCError(RPCError.parseError, "this is not JSON: \(error.message)"), start: bytes)
            (parts, isBatch) = ([.malformed(malformed)], false)
            return
        }
        guard case .array(let elements) = json else {
            (parts, isBatch) = ([Self.part(json)], false)
            return
        }
        isBatch = true
        if elements.isEmpty || elements.count > Self.mostMessages {
            let reason = elements.isEmpty ? "the batch is empty" : "a batch may have \(Self.mostMessages) messages"
            parts = [.malformed(RPCMalformed(RPCError(RPCError.invalidRequest, reason), start: bytes))]
        } else {
            parts = elements.map(Self.part)
        }
    }

    private static func part(_ json: JSON) -> Part {
        do throws(RPCMalformed) { return .message(try RPCMessage(json)) } catch { return .malformed(error) }
    }
}

/// What came and is no message.
public struct RPCMalformed: Error, Sendable, Hashable {
    /// What its sender is told.
    public let error: RPCError
    /// The id that it seems to have.
    public let id: RPCID?
    /// Whether it seems to be an answer, which is never answered.
    public let isResponse: Bool
    /// The beginning of the text, safe to be shown.
    public let excerpt: String

    private static let longestExcerpt = 200

    init(_ error: RPCError, id: RPCID? = nil, isResponse: Bool = false, start: some Collection<UInt8>) {
        self.error = error
        self.id = id
        self.isResponse = isResponse
        let shown = PlainText.escape(String(decoding: start.prefix(Self.longestExcerpt), as: UTF8.self))
        excerpt = start.count > Self.longestExcerpt ? shown + "…" : shown
    }

    init(_ reason: String, id: RPCID? = nil, isResponse: Bool = false, _ json: JSON) {
        self.init(
            RPCError(RPCError.invalidRequest, reason), id: id, isResponse: isResponse, start: Array(json.text().utf8))
    }
}

extension JSONReading {
    /// Peers write messages, so a key that occurs twice or a broken surrogate is no reason to lose one.
    static var message: JSONReading {
        var reading = JSONReading.stream
        reading.maxDepth = JSONReading.deepest
        return reading
    }
}

extension RPCMessage {
    /// Reads a message. The member `jsonrpc` may be absent, since some peers leave it out.
    public init(_ json: JSON) throws(RPCMalformed) {
        guard let members = json.object else {
            throw RPCMalformed("a message is an object, not \(json.kindName)", json)
        }
        let id = members["id"].flatMap(RPCID.init)
        let isResponse = members["method"] == nil && (members["result"] != nil || members["error"] != nil)
        func malformed(_ reason: String) -> RPCMalformed {
            RPCMalformed(reason, id: id, isResponse: isResponse, json)
        }
        if let version = members["jsonrpc"], version != "2.0" {
            throw malformed("the version of JSON-RPC is \(PlainText.escape(version.text())), not \"2.0\"")
        }
        if isResponse {
            if let error = members["error"]?.unlessNull {
                self = .response(RPCResponse(id, .failure(RPCError(error))))
            } else if let id, let result = members["result"] {
                self = .response(RPCResponse(id, .success(result)))
            } else {
                throw malformed("the answer has no id")
            }
            return
        }
        guard let method = members["method"]?.string else { throw malformed("the message has no method") }
        let params = members["params"]?.unlessNull
        switch params {
        case nil, .object, .array: break
        case .some(let other): throw malformed("the parameters are \(other.kindName), not an object or an array")
        }
        switch members["id"] {
        case nil: self = .notification(RPCNotification(method, params))
        case .some(let value):
            guard let id else { throw malformed("the id is \(value.kindName), not a string or a number") }
            self = .request(RPCRequest(id, method, params))
        }
    }
}
