import JSON

/// The answer to a request that was taken, at least in parts, such as `ExportTraceServiceResponse`.
public struct OTLPResponse: Sendable, Hashable {
    /// The signal of the request.
    public let signal: OTLPSignal
    /// How many were rejected. The sender must not send them again.
    public let rejected: Int
    /// Why, or a warning if nothing was rejected.
    public let message: String

    /// By default everything was taken.
    public init(to signal: OTLPSignal = .traces, rejected: Int = 0, message: String = "") {
        (self.signal, self.rejected, self.message) = (signal, rejected, message)
    }

    /// Appends the answer. It says nothing if everything was taken.
    public func write(as encoding: OTLPEncoding, into bytes: inout [UInt8]) {
        let isPartial = rejected > 0 || !message.isEmpty
        switch encoding {
        case .protobuf:
            guard isPartial else { return }
            bytes.addMessage(1) { bytes in
                bytes.addNumber(1, UInt64(clamping: rejected))
                bytes.addText(2, message)
            }
        case .json:
            guard isPartial else { return bytes.add("{}") }
            bytes.add("{\"partialSuccess\":{")
            bytes.addJSON(signal.rejected)
            bytes.add(":\"")
            bytes.addDecimal(Int64(max(0, rejected)))
            bytes.add("\",\"errorMessage\":")
            bytes.addJSON(message)
            bytes.add("}}")
        }
    }

    /// Reads an answer.
    ///
    /// - Throws: a `TraceKitError` for other bytes.
    public init(parsing bytes: [UInt8], to signal: OTLPSignal = .traces, as encoding: OTLPEncoding) throws {
        var (rejected, message) = (0, "")
        switch encoding {
        case .protobuf:
            try ProtobufReader.read(bytes, 0..<bytes.count) { (field) throws(TraceKitError) in
                guard case (1, .bytes(let range)) = field else { return }
                try ProtobufReader.read(bytes, range) { field in
                    switch field {
                    case (1, .varint(let number)): rejected = max(0, Int(truncatingIfNeeded: number))
                    case (2, .bytes(let range)): message = String(decoding: bytes[range], as: UTF8.self)
                    default: break
                    }
                }
            }
        case .json:
            let partial = try JSON(answer: bytes)["partialSuccess"]
            let count = partial?[signal.rejected]
            rejected = max(0, count?.int ?? count?.string.flatMap { Int($0) } ?? 0)
            message = partial?["errorMessage"]?.string ?? ""
        }
        self.init(to: signal, rejected: rejected, message: message)
    }
}

/// Why a request was refused as a whole, the body of an answer that is an error: `google.rpc.Status`.
public struct OTLPRefusal: Sendable, Hashable {
    /// A number of gRPC, such as 3 for an invalid argument.
    public let code: Int
    /// The reason in words.
    public let message: String

    /// A refusal with its reason.
    public init(code: Int, message: String) { (self.code, self.message) = (code, message) }

    /// Appends the refusal.
    public func write(as encoding: OTLPEncoding, into bytes: inout [UInt8]) {
        switch encoding {
        case .protobuf:
            bytes.addNumber(1, UInt64(bitPattern: Int64(code)))
            bytes.addText(2, message)
        case .json: JSON.object(["code": .int(code), "message": .string(message)]).write(into: &bytes)
        }
    }

    /// Reads a refusal. Its details are skipped.
    ///
    /// - Throws: a `TraceKitError` for other bytes, such as the page of a proxy.
    public init(parsing bytes: [UInt8], as encoding: OTLPEncoding) throws {
        var (code, message) = (0, "")
        switch encoding {
        case .protobuf:
            try ProtobufReader.read(bytes, 0..<bytes.count) { field in
                switch field {
                case (1, .varint(let number)): code = Int(truncatingIfNeeded: number)
                case (2, .bytes(let range)): message = String(decoding: bytes[range], as: UTF8.self)
                default: break
                }
            }
        case .json:
            let json = try JSON(answer: bytes)
            (code, message) = (json["code"]?.int ?? 0, json["message"]?.string ?? "")
        }
        self.init(code: code, message: message)
    }
}

extension ProtobufReader {
    /// Passes each field of a message to the closure.
    static func read(
        _ bytes: [UInt8], _ range: Range<Int>,
        _ body: ((number: UInt64, value: Value)) throws(TraceKitError) -> Void
    ) throws(TraceKitError) {
        var reader = ProtobufReader(bytes, range)
        while let field = try reader.next() { try body(field) }
    }
}

extension JSON {
    /// The body of an answer, which is an object.
    fileprivate init(answer bytes: [UInt8]) throws(TraceKitError) {
        do { self = try JSON(parsing: bytes, reading: .stream) } catch {
            throw TraceKitError(.malformed, "this is no answer of OTLP in JSON: \(error.message)")
        }
        guard object != nil else { throw TraceKitError(.malformed, "this is no answer of OTLP in JSON") }
    }
}
