import Capabilities
import HTTPCore
import JSON

/// The session and the project under which a gateway runs an answer: as its headers say, else its body, else as they
/// were sent.
struct ServerSession: Sendable {
    private var told = ChatStart()
    private let sent: ChatStart

    init(sentIn extras: JSONObject) {
        sent = ChatStart(session: extras["session_id"]?.string, project: extras["project_id"]?.string)
    }

    /// The session that runs now, as far as it is known.
    var id: String? { told.session ?? sent.session }

    mutating func read(_ headers: HTTPHeaders) {
        told.session = headers["X-Session-ID"] ?? told.session
        told.project = headers["X-Project-ID"] ?? told.project
    }

    func completed(_ start: ChatStart) -> ChatStart {
        var start = start
        start.session = told.session ?? start.session ?? sent.session
        start.project = told.project ?? start.project ?? sent.project
        return start
    }

    mutating func complete(_ events: inout [ChatEvent]) {
        for index in events.indices {
            guard case .began(let start) = events[index] else { continue }
            let whole = completed(start)
            // A stop by this id needs it also when it stood only in the body.
            told.session = whole.session
            told.project = whole.project
            events[index] = .began(whole)
        }
    }
}
