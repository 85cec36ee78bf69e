import HTTPCore
import HTTPServer
import ToolKit

/// When a file may be written, by the headers of a request.
struct WriteCondition {
    let rule: Workspace.WriteRule

    init(ifMatch tag: String?, ifNoneMatch none: String?) throws(RequestProblem) {
        switch (tag, none) {
        case (nil, nil): rule = .always
        case ("*", nil): rule = .exists
        case (let tag?, nil): rule = .matches(etag: tag)
        case (nil, "*"): rule = .isNew
        default: throw .badRequest("give If-Match with one tag, or If-None-Match with *, and not both")
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
