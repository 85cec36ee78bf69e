import Capabilities
import JSON
import SSHClient

/// How something ended on a host.
enum HostState: String, Choice, Hashable {
    case ok
    /// The command ended with another code than 0, or could not be run.
    case failed
    /// The host's key or the user was not accepted.
    case refused
    /// The host does not answer.
    case unreachable
}

/// What came of one host.
protocol HostOutcome: Record {
    var host: String { get }
    var state: HostState { get }
    /// Why it failed, in words.
    var reason: String? { get }
    /// The error before the work on the host began.
    var failure: AnyFailure? { get }
}

extension AnyFailure {
    var state: HostState {
        switch exit {
        case .denied, .unanswered: .refused
        case .unreachable: .unreachable
        default: .failed
        }
    }
}

/// What came of all hosts. The worst of them sets the exit code: refused trust, then a failed command, then a host that does not
/// answer.
struct HostOutcomes<Outcome: HostOutcome>: OutputValue {
    let rows: [Outcome]

    static var schema: Schema { [Outcome].schema }
    var json: JSON { rows.json }

    var exit: ExitCode {
        let states = Set(rows.map(\.state))
        if states.contains(.refused) { return .denied }
        if states.contains(.failed) { return .toolFailed }
        return states.contains(.unreachable) ? .unreachable : .done
    }

    /// A sentence about many hosts: how many succeeded, and which did not.
    var summary: String {
        let lists = [HostState.refused, .failed, .unreachable].compactMap { state -> String? in
            let names = rows.filter { $0.state == state }.map(\.host)
            if names.isEmpty { return nil }
            let more = names.count > 20 ? " and \(names.count - 20) more" : ""
            return "\(state.rawValue): \(names.prefix(20).joined(separator: ", "))\(more)"
        }
        return (["\(rows.count { $0.state == .ok }) of \(rows.count) hosts succeeded"] + lists).joined(separator: "; ")
    }
}
