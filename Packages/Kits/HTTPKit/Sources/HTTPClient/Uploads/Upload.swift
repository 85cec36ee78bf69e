import HTTPCore

/// The body of one try, opened and ready to be read by the engine.
enum Upload: Sendable {
    case none
    case bytes([UInt8])
    case file(BodyFile)
    case pipe(UploadPipe)

    /// How long it is, where that is known.
    var length: Int? {
        switch self {
        case .none: 0
        case .bytes(let bytes): bytes.count
        case .file(let file): file.count
        case .pipe(let pipe): pipe.length
        }
    }

    /// Opens what a request carries. A stream begins to be read here, by a task that ends with the pipe.
    init(_ body: HTTPBody) throws(HTTPError) {
        switch body {
        case .none: self = .none
        case .bytes(let bytes): self = .bytes(bytes)
        case .file(let path, let range, let name):
            self = .file(try BodyFile(path: path, range: range, naming: name ?? path))
        case .stream(let length, let sequence): self = .pipe(UploadPipe(length: length, reading: sequence))
        }
    }
}
