import Capabilities
import GatewayStore
import HTTPCore
import HTTPServer
import JSON
import Testing

@testable import GatewayAPI

@Suite("What the gateway answers", .timeLimit(.minutes(10)))
struct RouteTests {
    @Test("every route has the inputs, scopes and answers of the list")
    func routes() throws {
        let now: @Sendable () -> Timestamp = { Timestamp(microseconds: 0) }
        let services = APIServices(store: .inMemory(now: now), version: "1.0", now: now) {
            preconditionFailure("a route that is only looked at needs no turns")
        }
        let routes = try gatewayRoutes(services)
        try FrozenList("routes").expect(routes.flatMap(\.lines) + ErrorBody.schema.lines(at: "error"))
    }
}

extension Route {
    fileprivate var lines: [String] {
        let name = "\(method.rawValue) \(template)"
        var lines = [line(name)]
        for input in inputs { lines += input.lines(of: name) }
        for answer in answers {
            lines.append("\(name) answers \(answer.status.code) \(answer.type.isEmpty ? "nothing" : answer.type)")
            if let schema = answer.schema { lines += schema.lines(at: "\(name) \(answer.status.code)") }
        }
        return lines
    }

    private func line(_ name: String) -> String {
        var facts = ["id \(id)", isOpen ? "open" : "scopes \(scopes.map(\.rawValue).sorted().joined(separator: " "))"]
        let refused = Set(refusals.map(\.code)).sorted()
        if !refused.isEmpty { facts.append("refuses with \(refused.map(String.init).joined(separator: " "))") }
        if !inputs.isEmpty { facts.append("refuses inputs with \(inputRefusal.code)") }
        if let bodyLimit { facts.append("body of at most \(bodyLimit.bytes) bytes") }
        if isHidden { facts.append("hidden") }
        if isDeprecated { facts.append("deprecated") }
        return "\(name): \(facts.joined(separator: ", "))"
    }
}

extension RouteInputDeclaration {
    fileprivate func lines(of route: String) -> [String] {
        let name = place == .body ? "\(route) body" : "\(route) \(place.rawValue) \(self.name)"
        var facts = [isRequired ? "required" : "not required"]
        if let defaultValue { facts.append("default \(defaultValue.text(.sorted))") }
        if isLenient { facts.append("takes unknown members") }
        return schema.lines(at: name, property.keywords) + ["\(name) is \(facts.joined(separator: ", "))"]
    }
}
