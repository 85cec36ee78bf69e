import Capabilities
public import HTTPServer

extension ServerConfiguration {
    /// Makes a server speak as its gateway does: the shape of errors, their statuses, and who counts the requests.
    public mutating func adopt(_ services: APIServices) {
        envelope = { ErrorBody(report: $0).json }
        status = { FailureStatus.known($0) }
        // The names under which OpenAI's clients and Anthropic's look for it.
        requestIDHeaders = ["X-Request-ID", "request-id"]
        spans.append(services.metrics)
    }
}
