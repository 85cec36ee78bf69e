import HTTPCore
import HTTPServer
import JSON

extension Endpoints {
    /// Everything else: below the API nothing is there, and outside of it every path is a page.
    var webInterface: [Route] {
        [HTTPMethod.get, .post, .put, .patch, .delete].map { method in
            place(
                method, "/{path...}", "other\(method)", "Everything else", .path("path", "The path", as: String.self)
            ) { request, path in
                guard !"/\(path)/".hasPrefix("\(apiPath)/"), method == .get else {
                    throw Platform.refusal(.notFound, "Not Found")
                }
                return WebInterface.answer("Dashboard")
            }
        }
    }
}

/// The pages of a platform, of which tests need only that they are pages.
enum WebInterface {
    static let page = "<!DOCTYPE html><html><head><title>Kamiwaza</title></head><body>Dashboard</body></html>"

    static func answer(_ words: String, status: HTTPStatus = .ok) -> HTTPAnswer {
        let page = "<!DOCTYPE html><html><head><title>Kamiwaza</title></head><body>\(words)</body></html>"
        return .bytes(Array(page.utf8), type: "text/html; charset=utf-8", status: status)
    }
}
