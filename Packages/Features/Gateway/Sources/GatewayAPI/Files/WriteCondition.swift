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
        // No file is there and is not there, so that one of both always fails.
        case (_?, "*"):
            throw RequestProblem(
                HTTPStatus(412), code: "bad_request",
                "If-Match and If-None-Match: * cannot both be so; give one of them")
        default: throw .badRequest("If-None-Match can only be * here")
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
