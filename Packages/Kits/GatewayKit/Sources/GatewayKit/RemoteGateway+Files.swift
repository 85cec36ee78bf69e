public import Capabilities
import HTTPClient
import HTTPCore
import JSON

extension RemoteGateway {
    public func files(
        ofProject project: String, _ query: AgentFileQuery
    ) async throws -> Offered<AgentList<AgentFile>> {
        let call = try looking(at: "files", ofProject: project, query)
        return try await cutList("a list of files", from: call.with("depth", "\(query.depth)")) { AgentFile($0) }
    }

    /// The lines of text files that match, file by file.
    ///
    /// - Parameters:
    ///   - pattern: a regular expression, or a text if `isLiteral` is set.
    ///   - query: which files to search; its depth does not count.
    public func search(
        _ pattern: String, ofProject project: String, isLiteral: Bool = false, ignoresCase: Bool = false,
        _ query: AgentFileQuery = AgentFileQuery()
    ) async throws -> Offered<AgentList<AgentHit>> {
        let call = try looking(at: "search", ofProject: project, query).with("pattern", pattern)
            .with("literal", "\(isLiteral)").with("ignore_case", "\(ignoresCase)")
        return try await cutList("a list of lines", from: call) { AgentHit($0) }
    }

    public func readFile(
        _ path: String, ofProject project: String, in range: Range<Int>?
    ) async throws -> Offered<AgentFileContent> {
        var call = try file(.get, path, project)
        call.headers["Accept"] = "application/octet-stream"
        call.largest = AgentFileContent.most
        if let range {
            guard !range.isEmpty, range.lowerBound >= 0 else {
                throw RemoteGatewayError(.invalid, "the part of a file to read must have at least one byte")
            }
            call.headers["Range"] = "bytes=\(range.lowerBound)-\(range.upperBound - 1)"
        }
        return try await answer(to: call).map { response in
            let etag = response.headers["ETag"]
            guard response.status == .partialContent else {
                // A server may send the whole file although a part was asked for.
                return AgentFileContent(bytes: response.body, etag: etag)
            }
            guard let part = ContentRange(response.headers["Content-Range"]), part.count == response.body.count else {
                throw badAnswer("a part of the file", response)
            }
            return AgentFileContent(bytes: response.body, start: part.start, size: part.size, etag: etag)
        }
    }

    public func writeFile(
        _ bytes: [UInt8], to path: String, ofProject project: String, if condition: AgentWriteCondition
    ) async throws -> Offered<AgentFile> {
        guard bytes.count <= AgentFileContent.most else { throw AgentServerError.tooLarge(.file, path, at: server) }
        var call = try file(.put, path, project)
        call.headers["Content-Type"] = "application/octet-stream"
        call.body = .bytes(bytes)
        switch condition {
        case .always: break
        case .isNew: call.headers["If-None-Match"] = "*"
        case .matches(let etag): call.headers["If-Match"] = etag
        }
        return try await value("a file", from: call) { AgentFile($0) }
    }
}

extension RemoteGateway {
    private func looking(
        at route: String, ofProject project: String, _ query: AgentFileQuery
    ) throws(AgentServerError) -> GatewayCall {
        let subject: AgentSubject = query.path == "." ? .project : .file
        let id = query.path == "." ? project : query.path
        var call = GatewayCall(.get, "/projects/\(try word(project, .project))/\(route)", subject, id)
        call.query = [
            ("path", query.path), ("hidden", "\(query.hidden)"), ("ignored", "\(query.ignored)"),
            ("limit", "\(query.limit)"),
        ]
        return call.with("glob", query.glob)
    }

    private func file(_ method: HTTPMethod, _ path: String, _ project: String) throws(AgentServerError) -> GatewayCall {
        guard let escaped = PathWord.escaped(path: path) else { throw .notFound(.file, path, at: server) }
        return GatewayCall(method, "/projects/\(try word(project, .project))/files/\(escaped)", .file, path)
    }

    /// A list with a limit that was asked for, and whether there is more.
    private func cutList<Row: Sendable>(
        _ what: String, from call: GatewayCall, _ read: (WireObject) -> Row?
    ) async throws -> Offered<AgentList<Row>> {
        try await answer(to: call).map { response in
            let json = try json(what, in: response)
            guard let page = WirePage(json) else { throw badAnswer(what, response) }
            let isCut = WireObject(json)?.flag("truncated") ?? false
            return AgentList(page.rows.compactMap(read), isCut: isCut)
        }
    }
}

/// A line of a file in which something was found.
public struct AgentHit: Sendable, Hashable {
    /// The path, relative to the folder of the project.
    public let path: String
    /// The number of the line, from 1.
    public let line: Int
    /// The line.
    public let text: String

    init?(_ wire: WireObject) {
        guard let path = wire.text("path"), let line = wire.count("line") else { return nil }
        self.path = path
        self.line = line
        text = wire["text"]?.string ?? ""
    }
}

/// The value of `Content-Range`: `bytes 0-1023/4096`.
struct ContentRange {
    let start: Int
    let count: Int
    let size: Int

    init?(_ header: String?) {
        guard let header, let match = header.wholeMatch(of: /bytes ([0-9]{1,18})-([0-9]{1,18})\/([0-9]{1,18})/),
            let start = Int(match.output.1), let end = Int(match.output.2), let size = Int(match.output.3),
            start <= end, end < size
        else { return nil }
        (self.start, count, self.size) = (start, end - start + 1, size)
    }
}
