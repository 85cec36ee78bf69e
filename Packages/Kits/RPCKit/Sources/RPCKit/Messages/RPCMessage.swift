public import JSON

/// One message of JSON-RPC 2.0.
public enum RPCMessage: Sendable, Hashable {
    /// Asks for an answer.
    case request(RPCRequest)
    /// Asks for none.
    case notification(RPCNotification)
    /// Answers a request.
    case response(RPCResponse)
}

/// A request, with the id that its answer will have.
public struct RPCRequest: Sendable, Hashable {
    /// Chosen by the sender.
    public let id: RPCID
    /// What is to be done.
    public let method: String
    /// An object or an array; nil if there are none.
    public let params: JSON?

    /// A request to send, or one that has come.
    public init(_ id: RPCID, _ method: String, _ params: JSON? = nil) {
        self.id = id
        self.method = method
        self.params = params
    }
}

/// A message that is not answered.
public struct RPCNotification: Sendable, Hashable {
    /// What it is about.
    public let method: String
    /// An object or an array; nil if there are none.
    public let params: JSON?

    /// A notification to send, or one that has come.
    public init(_ method: String, _ params: JSON? = nil) {
        self.method = method
        self.params = params
    }
}

/// An answer to a request.
public struct RPCResponse: Sendable, Hashable {
    /// That of the request; nil for an error whose request could not be read.
    public let id: RPCID?
    /// What came of it.
    public let result: Result<JSON, RPCError>

    /// An answer to send, or one that has come.
    public init(_ id: RPCID?, _ result: Result<JSON, RPCError>) {
        self.id = id
        self.result = result
    }
}

/// The id of a request: a string or a number of any kind, which is given back exactly as it came.
public struct RPCID: Sendable, Hashable, CustomStringConvertible {
    /// The value as it is written.
    public let json: JSON

    /// Nil for what cannot be an id.
    public init?(_ json: JSON) {
        switch json {
        case .int, .big, .double, .string: self.json = json
        case .null, .bool, .array, .object: return nil
        }
    }

    /// A number of our own.
    public init(_ number: Int) {
        json = .int(number)
    }

    public var description: String { json.text() }

    /// The number of our own that a peer gives back. Some peers keep every number as a text or as a fraction.
    var number: Int? {
        switch json {
        case .int(let number): number
        case .string(let text): Int(text)
        case .double(let value): Int(exactly: value)
        default: nil
        }
    }
}

extension RPCID {
    /// The id of a message of which only the beginning is known; nil if that does not have it.
    init?(beginningOf bytes: [UInt8]) {
        var found: RPCID?
        do {
            try JSONPullReader.read(bytes) { reader in
                try reader.object { reader, key in
                    if key == "id" { found = RPCID(try reader.value()) }
                }
            }
        } catch {
            // The beginning ends somewhere; what was read until then counts.
        }
        guard let found else { return nil }
        self = found
    }
}

extension RPCMessage {
    /// The message as JSON text in UTF-8.
    public var bytes: [UInt8] {
        var bytes: [UInt8] = []
        write(into: &bytes)
        return bytes
    }

    /// Appends the message as JSON text in UTF-8, without a line break.
    public func write(into bytes: inout [UInt8]) {
        bytes.append(contentsOf: #"{"jsonrpc":"2.0""#.utf8)
        switch self {
        case .request(let request):
            Self.append("id", request.id.json, to: &bytes)
            Self.append("method", .string(request.method), to: &bytes)
            if let params = request.params { Self.append("params", params, to: &bytes) }
        case .notification(let notification):
            Self.append("method", .string(notification.method), to: &bytes)
            if let params = notification.params { Self.append("params", params, to: &bytes) }
        case .response(let response):
            Self.append("id", response.id?.json ?? .null, to: &bytes)
            switch response.result {
            case .success(let result): Self.append("result", result, to: &bytes)
            case .failure(let error): Self.append("error", error.json, to: &bytes)
            }
        }
        bytes.append(UInt8(ascii: "}"))
    }

    private static func append(_ name: StaticString, _ value: JSON, to bytes: inout [UInt8]) {
        bytes.append(contentsOf: #",""#.utf8)
        bytes.append(contentsOf: name.description.utf8)
        bytes.append(contentsOf: #"":"#.utf8)
        value.write(into: &bytes)
    }
}
