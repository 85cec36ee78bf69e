import Capabilities
import GatewayStore
import GatewayTurns
import HTTPCore
import HTTPServer
import ToolKit

/// The files of projects. Every path is resolved beneath the project's folder by the system itself, as for tools.
struct FileRoutes {
    let services: APIServices

    var all: [Route] { (looking + [reading, writing]).map { $0.tagged("files").refusing(.notFound, .conflict) } }

    private var id: RouteInput<String> { .path("id", "The project") }
    private var path: RouteInput<String> {
        .path("path", "The file, from the project's folder on").documented(.relativePath)
    }
    private var hidden: RouteInput<Bool> { .query("hidden", "Also names that begin with a dot", default: false) }
    private var ignored: RouteInput<Bool> { .query("ignored", "Also what .gitignore leaves out", default: false) }
    private var limit: RouteInput<Int> { .query("limit", "At most so many", in: 1...10_000, default: 1000) }

    /// Rules that keep something from tools keep it from clients as well, or a model's client could fetch it for the model.
    private func workspace(_ project: String) async throws -> Workspace {
        let project = try await services.project(project)
        return try await services.turns.workspace(of: project)
    }

    // MARK: - Looking around

    private var looking: [Route] {
        [
            Route(
                .get, "/v1/projects/{id}/files", "listFiles", "The files of a project, as a tree or by a pattern", id,
                .query("path", "The folder, from the project's on", default: ".").documented(.relativePath),
                .query("depth", "How many levels", in: 1...64, default: 1),
                .query(
                    "glob", "Only files whose path fits, such as **/*.swift; depth does not count then",
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
                return WireListing(files: found.entries.map(WireFile.init), isCut: found.isCut)
            }.refusing(.badRequest, .forbidden),
            Route(
                .get, "/v1/projects/{id}/search", "searchFiles", "Lines of a project's text files that fit a pattern",
                id,
                .query("pattern", "A regular expression, or a text when literal is set", as: String.self)
                    .documented(.regularExpression),
                .query("path", "The file or folder, from the project's on", default: ".").documented(.relativePath),
                .query("glob", "Only files whose path fits, such as *.swift", as: String?.self).documented(.glob),
                .query("literal", "Search for the text as it is", default: false),
                .query("ignore_case", "Make no difference between a and A", default: false), hidden, ignored, limit
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
            .get, "/v1/projects/{id}/files/{path...}", "readFile", "The bytes of a file", id, path,
            .header("Range", "Which bytes, such as bytes=0-1023", as: String?.self),
            .header("If-None-Match", "The tag of what is there already", as: String?.self),
            .header("If-Range", "The tag of the file of which a part is there already", as: String?.self)
        ) { _, id, path, range, known, condition in
            let file = try await workspace(id).open(path)
            return try FileContent(file: file).answer(range: range, ifRange: condition, ifNoneMatch: known)
        }
        .answering(.ok, type: "application/octet-stream", "The whole file")
        .answering(.partialContent, type: "application/octet-stream", "A part of it")
        .answering(.notModified, "The tag is still right")
        .refusing(HTTPStatus(416))
    }

    private var writing: Route {
        Route(
            .put, "/v1/projects/{id}/files/{path...}", "writeFile", "Writes a file, whole or not at all", id, path,
            .header(
                "If-Match", "Only when the file still has this tag; * for any file that is there", as: String?.self),
            .header("If-None-Match", "* writes only a file that is not there yet", as: String?.self)
                .documented(.anyTag),
            .upload("The bytes")
        ) { _, id, path, tag, none, body in
            let condition = try WriteCondition(ifMatch: tag, ifNoneMatch: none)
            let workspace = try await workspace(id)
            let written = try await condition.write(try await body.bytes(), to: path, in: workspace)
            return HTTPAnswer.json(WireFile(entry: written.entry), status: written.isNew ? .created : .ok)
        }
        .answering(.ok, WireFile.self, "It was replaced").answering(.created, WireFile.self, "It was made")
        .bodyLimit(ByteCount(16 << 20)).refusing(HTTPStatus(412), .contentTooLarge)
    }
}
