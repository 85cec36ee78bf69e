import AnthropicDialect
import Capabilities
import HTTPCore
import HTTPServer
import JSON

/// The body of every answer that is no success. Clients of OpenAI's API, of Anthropic's and of gateways all find in it
/// what they look for, so that a refusal from before the route is known fits as well as one from the route.
struct ErrorBody: Record {
    let report: ProblemReport

    static let fields: [Field<ErrorBody>] = [
        Field("type", "Always error") { _ in "error" },
        Field("error", "What went wrong") { ErrorFacts(report: $0.report) },
        Field("request_id", "Names the request in traces") { $0.report.requestID },
    ]
}

/// What went wrong, under the names of both APIs.
struct ErrorFacts: Record {
    let report: ProblemReport

    static let fields: [Field<ErrorFacts>] = [
        Field("message", "What happened and what to do next") { $0.report.message },
        Field("type", "The kind, in Anthropic's words") { type(status: $0.report.status.code) },
        Field("param", "The member of the request that it is about") { $0.param },
        Field("code", "The stable reason") { WireCode.text(of: $0.report.code) },
        Field("status", "The status of the answer") { $0.report.status.code },
        Field("details", "Every value that is wrong, where there are several; or what Anthropic's clients look for") {
            $0.details
        },
    ]

    /// The kind of an error with that status.
    static func type(status: Int) -> String { AnthropicDialect.errorType(status: status) }

    private var details: JSON? {
        let code = WireCode.text(of: report.code)
        // By this a client of Anthropic's knows to go on with whole conversations.
        if code == "thread_unsupported_request" { return ["error_code": .string(code), "unsupported": ["thread"]] }
        return report.inputs.count > 1 ? .array(report.inputs.map { WrongInput(problem: $0).json }) : nil
    }

    private var param: String? {
        if let name = report.inputs.first?.name { return name.isEmpty ? nil : name }
        return report.details["param"]?.string
    }
}

/// One value that is not as it was declared.
struct WrongInput: Record {
    let problem: InputProblem

    static let fields: [Field<WrongInput>] = [
        Field("place", "path, query, header or body") { $0.problem.place },
        Field("name", "Its name") { $0.problem.name },
        Field("message", "What is wrong with it") { $0.problem.message },
    ]
}
