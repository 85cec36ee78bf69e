import Capabilities
import GatewayStore
import GatewayTurns
import HTTPCore
import HTTPServer
import ToolKit

/// Routes for the files of projects. The kernel resolves every path beneath the project's folder, as for tools.
struct FileRoutes {
    let services: APIServices

    var all: [Route] { (looking + [reading, writing]).map { $0.tagged("files").refusing(.notFound, .conflict) } }

    private var id: RouteInput<String> { .path("id", "The project") }
    private var path: RouteInput<String> {
        .path("path", "Path of the file in the project's folder").documented(.relativePath)
    }
    private var hidden: RouteInput<Bool> { .query("hidden", "Include names that begin with a dot", default: false) }
    private var ignored: RouteInput<Bool> { .query("ignored", "Include files excluded by .gitignore", default: false) }
    private var limit: RouteInput<Int> { .query("limit", "Maximum number of results", in: 1...10_000, default: 1000) }

    private func workspace(_ project: String) async throws -> Workspace { try await services.workspace(project) }

    // MARK: - Looking around

    private var looking: [Route] {
        [
            Route(
                .get, "/v1/projects/{id}/files", "listFiles", "List the files of a project", id,
                .query("path", "Path of the folder", default: ".").documented(.relativePath),
                .query("depth", "Number of levels", in: 1...64, default: 1),
                .query(
                    "glob", "Only files whose path matches, such as **/*.swift; ignores depth",
                    as: String?.self
                ).documented(.glob),
                hidden, ignored, limit
            ) { _, id, path, depth, glob, hidden, ignored, limit in
                let look = Workspace.Look(path: path, hidden: hidden, ignored: ignored, limit: limit)
                let workspace = try await workspace(id)
                let found =
                    if let glob { try await workspace.find(glob, look) } else {
                        try await workspace.entries(look, depth: depth)
                    }
                return WireFolder(files: found.entries.map(WireFile.init), isCut: found.isCut)
            }.refusing(.badRequest, .forbidden),
            Route(
                .get, "/v1/projects/{id}/search", "searchFiles", "Search the text files of a project", id,
                .query("pattern", "Regular expression, or a text if literal is set", as: String.self)
                    .documented(.regularExpression),
                .query("path", "Path of the file or folder", default: ".").documented(.relativePath),
                .query("glob", "Only files whose path matches, such as *.swift", as: String?.self).documented(.glob),
                .query("literal", "Search for the pattern as plain text", default: false),
                .query("ignore_case", "Ignore case", default: false), hidden, ignored, limit
            ) { _, id, pattern, path, glob, literal, ignoresCase, hidden, ignored, limit in
                let look = Workspace.Look(path: path, hidden: hidden, ignored: ignored, limit: limit)
                let found = try await workspace(id).search(
                    pattern, glob: glob, isLiteral: literal, ignoresCase: ignoresCase, look)
                return WireHits(hits: found.hits.map(WireHit.init), isCut: found.isCut)
            }.refusing(.badRequest, .forbidden),
        ]
    }

    // MARK: - Contents

    private var reading: Route {
        Route(
            .get, "/v1/projects/{id}/files/{path...}", "readFile", "Read a file", id, path,
            .header("Range", "Bytes to return, such as bytes=0-1023", as: String?.self),
            .header("If-None-Match", "Tag of the version that the client has", as: String?.self),
            .header("If-Range", "Tag of the version of which the client has a part", as: String?.self)
        ) { _, id, path, range, known, condition in
            let file = try await workspace(id).open(path)
            return try FileContent(file: file).answer(range: range, ifRange: condition, ifNoneMatch: known)
        }
        .answering(.ok, type: "application/octet-stream", "The whole file")
        .answering(.partialContent, type: "application/octet-stream", "Part of the file")
        .answering(.notModified, "The file has not changed")
        .refusing(HTTPStatus(416))
    }

    private var writing: Route {
        Route(
            .put, "/v1/projects/{id}/files/{path...}", "writeFile", "Write a file atomically", id, path,
            .header(
                "If-Match", "Write only if the file has this tag; * for any existing file", as: String?.self),
            .header("If-None-Match", "* writes only if the file does not exist yet", as: String?.self)
                .documented(.anyTag),
            .upload("The bytes")
        ) { _, id, path, tag, none, body in
            let condition = try WriteCondition(ifMatch: tag, ifNoneMatch: none)
            let workspace = try await workspace(id)
            let written = try await condition.write(try await body.bytes(), to: path, in: workspace)
            return HTTPAnswer.json(WireFile(entry: written.entry), status: written.isNew ? .created : .ok)
        }
        .answering(.ok, WireFile.self, "Replaced the file").answering(.created, WireFile.self, "Created the file")
        .bodyLimit(ByteCount(16 << 20)).refusing(HTTPStatus(412), .contentTooLarge)
    }
}

/// Answers with a file: all of it, a part, or not modified.
struct FileContent: Sendable {
    let file: Workspace.File

    private static let piece = 256 << 10

    func answer(range: String?, ifRange: String?, ifNoneMatch: String?) throws -> HTTPAnswer {
        let (length, tag) = (file.entry.size, file.entry.etag)
        if let ifNoneMatch, EntityTag.matches(ifNoneMatch, tag) {
            return HTTPAnswer.empty(.notModified).header("ETag", tag)
        }
        // A part of another version is useless.
        let wanted = ifRange == nil || ifRange == tag ? try Self.part(range, of: length) : nil
        let part = wanted ?? 0..<length
        var answer = HTTPAnswer.stream(
            "application/octet-stream", length: part.count, status: wanted == nil ? .ok : .partialContent
        ) { [file] body in
            var place = part.lowerBound
            while place < part.upperBound {
                let bytes = try await file.read(at: place, count: min(Self.piece, part.upperBound - place))
                // A file that became shorter ends early, and the client sees that bytes are missing.
                guard !bytes.isEmpty else { return }
                try await body.write(bytes)
                place += bytes.count
            }
        }
        answer.headers["ETag"] = tag
        answer.headers["Accept-Ranges"] = "bytes"
        // A browser must treat files as data.
        answer.headers["X-Content-Type-Options"] = "nosniff"
        if let wanted {
            answer.headers["Content-Range"] = "bytes \(wanted.lowerBound)-\(wanted.upperBound - 1)/\(length)"
        }
        return answer
    }

    /// The requested range; nil for the whole file.
    private static func part(_ header: String?, of length: Int) throws(RequestProblem) -> Range<Int>? {
        switch ByteRange(header, of: length) {
        case .everything: return nil
        case .part(let part): return part
        case .unsatisfiable:
            throw RequestProblem(
                HTTPStatus(416), code: "gateway.range", "the range starts after the end of the file (\(length) bytes)",
                headers: ["Content-Range": "bytes */\(length)"])
        }
    }
}

/// The condition for writing a file, from the headers of a request.
struct WriteCondition {
    let rule: Workspace.WriteRule

    init(ifMatch tag: String?, ifNoneMatch none: String?) throws(RequestProblem) {
        switch (tag, none) {
        case (nil, nil): rule = .always
        case ("*", nil): rule = .exists
        case (let tag?, nil): rule = .matches(etag: tag)
        case (nil, "*"): rule = .isNew
        // A file cannot both exist and not exist, so one of the two always fails.
        case (_?, "*"):
            throw RequestProblem(
                HTTPStatus(412), code: "bad_request",
                "If-Match and If-None-Match: * contradict each other; send only one of them")
        default: throw .badRequest("If-None-Match must be * here")
        }
    }

    func write(
        _ bytes: [UInt8], to path: String, in workspace: Workspace
    ) async throws -> (entry: Workspace.Entry, isNew: Bool) {
        do {
            return try await workspace.write(bytes, to: path, when: rule)
        } catch let error as WorkspaceError where error.kind == .changed && rule != .always {
            throw RequestProblem(HTTPStatus(412), code: error.code, error.message)
        }
    }
}

/// An entry of a project's folder.
struct WireFile: Record {
    let entry: Workspace.Entry

    static let fields: [Field<WireFile>] = [
        Field("path", "Path in the project's folder", .name) { $0.entry.path },
        Field("name", "Last part of the path") { $0.entry.name },
        Field("kind", "file, folder, link or other", .state) { $0.entry.kind },
        Field("size", "Size of a file in bytes") { $0.entry.kind == .file ? $0.entry.size : nil },
        Field("modified_at", "Time of the last change") { $0.entry.modified },
        Field("etag", "Tag of the content; for If-Match") { $0.entry.kind == .file ? $0.entry.etag : nil },
    ]
}

/// The contents of a folder.
struct WireFolder: Record {
    let files: [WireFile]
    let isCut: Bool

    static let fields: [Field<WireFolder>] = [
        Field("object", "Always list") { _ in "list" },
        Field("data", "The entries") { $0.files },
        Field("truncated", "Whether there are more results") { $0.isCut },
    ]
}

/// Lines that match a pattern.
struct WireHits: Record {
    let hits: [WireHit]
    let isCut: Bool

    static let fields: [Field<WireHits>] = [
        Field("object", "Always list") { _ in "list" },
        Field("data", "The lines, file by file") { $0.hits },
        Field("truncated", "Whether there are more results") { $0.isCut },
    ]
}

/// One matching line.
struct WireHit: Record {
    let hit: Workspace.Hit

    static let fields: [Field<WireHit>] = [
        Field("path", "Path of the file in the project's folder", .name) { $0.hit.path },
        Field("line", "Line number, from 1") { $0.hit.line },
        Field("text", "The line") { $0.hit.text },
    ]
}
