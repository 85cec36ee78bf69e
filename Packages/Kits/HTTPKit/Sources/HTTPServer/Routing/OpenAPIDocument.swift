import Capabilities
import HTTPCore
import JSON

/// The general part of a server's OpenAPI document.
public struct APIDescription: Sendable {
    /// The name of the API.
    public var title: String
    /// The version of the API.
    public var version: String
    /// In Markdown.
    public var details: String
    /// The server's URLs.
    public var servers: [String]
    /// How a client authenticates.
    public var security: [Security]

    /// One way to authenticate.
    public enum Security: Sendable, Hashable {
        /// `Authorization: Bearer …`
        case bearer
        /// A header line with a key.
        case key(header: String)
    }

    /// - Parameter security: the ways to authenticate; empty if none is needed.
    public init(
        title: String, version: String, details: String = "", servers: [String] = [],
        security: [Security] = [.bearer]
    ) {
        self.title = title
        self.version = version
        self.details = details
        self.servers = servers
        self.security = security
    }
}

/// Builds the document from the declarations.
struct OpenAPIWriter {
    let description: APIDescription
    let problem: Schema

    func document(_ routes: Routes) -> JSON {
        var info: JSONObject = ["title": .string(description.title), "version": .string(description.version)]
        if !description.details.isEmpty { info["description"] = .string(description.details) }
        var document: JSONObject = ["openapi": "3.1.0", "info": .object(info)]
        if !description.servers.isEmpty {
            document["servers"] = .array(description.servers.map { ["url": .string($0)] })
        }
        var paths: JSONObject = [:]
        var tags: [String] = []
        for entry in routes.entries where !entry.route.isHidden {
            let (route, template) = (entry.route, entry.template)
            var path = paths[template.documented]?.object ?? [:]
            path[route.method.rawValue.lowercased()] = .object(operation(route))
            paths[template.documented] = .object(path)
            if let tag = route.tag, !tags.contains(tag) { tags.append(tag) }
        }
        document["paths"] = .object(paths)
        document["components"] = .object(components)
        if !tags.isEmpty { document["tags"] = .array(tags.map { ["name": .string($0)] }) }
        if !description.security.isEmpty { document["security"] = security }
        return .object(document)
    }

    private var security: JSON {
        .array(description.security.map { .object([Self.name($0): .array([])]) })
    }

    private static func name(_ security: APIDescription.Security) -> String {
        switch security {
        case .bearer: "bearer"
        case .key(let header): header.lowercased()
        }
    }

    private var components: JSONObject {
        var schemes: JSONObject = [:]
        for one in description.security {
            schemes[Self.name(one)] =
                switch one {
                case .bearer: ["type": "http", "scheme": "bearer"]
                case .key(let header): ["type": "apiKey", "in": "header", "name": .string(header)]
                }
        }
        var components: JSONObject = [
            "schemas": ["Problem": .object(problem.jsonSchema)],
            "responses": [
                "Problem": [
                    "description": "The request was rejected or failed",
                    "content": ["application/json": ["schema": ["$ref": "#/components/schemas/Problem"]]],
                ]
            ],
        ]
        if !schemes.isEmpty { components["securitySchemes"] = .object(schemes) }
        return components
    }

    private func operation(_ route: Route) -> JSONObject {
        var operation: JSONObject = ["operationId": .string(route.id), "summary": .string(route.summary)]
        if !route.details.isEmpty { operation["description"] = .string(route.details) }
        if let tag = route.tag { operation["tags"] = [.string(tag)] }
        if route.isDeprecated { operation["deprecated"] = true }
        // An empty list cancels the document's requirement.
        if route.isOpen, !description.security.isEmpty { operation["security"] = [] }
        let parameters = route.inputs.filter { [.path, .query, .header].contains($0.place) }
        if !parameters.isEmpty { operation["parameters"] = .array(parameters.map { .object(parameter($0)) }) }
        if let body = route.inputs.first(where: { $0.place == .body || $0.place == .upload }) {
            operation["requestBody"] = .object(requestBody(body, route))
        }
        operation["responses"] = .object(responses(route))
        return operation
    }

    private func parameter(_ input: RouteInputDeclaration) -> JSONObject {
        var schema = input.schema.jsonSchema
        // A NUL is refused in paths and queries.
        if input.place != .header, input.schema.unwrapped == .string { schema["pattern"] = #"^[^\u0000]*$"# }
        for (word, value) in input.property.keywords { schema[word] = value }
        if let defaultValue = input.defaultValue, !defaultValue.isNull { schema["default"] = defaultValue }
        var parameter: JSONObject = [
            "name": .string(input.name), "in": .string(input.place.rawValue),
            "description": .string(input.summary),
            "required": .bool(input.place == .path || input.isRequired),
            "schema": .object(schema),
        ]
        if input.schema.element != nil, input.place == .query { parameter["explode"] = true }
        return parameter
    }

    private func requestBody(_ input: RouteInputDeclaration, _ route: Route) -> JSONObject {
        var content: JSONObject = [:]
        if input.place == .upload {
            content["application/octet-stream"] = [:]
        } else {
            let schema = input.schema.jsonSchema(accepting: input.isLenient ? [.nulls, .unknownMembers] : .nulls)
            var media: JSONObject = ["schema": .object(schema)]
            if let example = route.requestExample { media["example"] = example }
            content["application/json"] = .object(media)
        }
        // HTTP cannot distinguish an empty upload from a missing one.
        let isRequired = input.isRequired && input.place == .body
        var body: JSONObject = ["required": .bool(isRequired), "content": .object(content)]
        if !input.summary.isEmpty { body["description"] = .string(input.summary) }
        return body
    }

    private func responses(_ route: Route) -> JSONObject {
        var responses: JSONObject = [:]
        for answer in route.answers {
            var response: JSONObject = ["description": .string(answer.summary)]
            if !answer.type.isEmpty {
                var media: JSONObject = [:]
                if let schema = answer.schema { media["schema"] = .object(schema.jsonSchema) }
                if let example = answer.example { media["example"] = example }
                var content = responses["\(answer.status.code)"]?["content"]?.object ?? [:]
                content[answer.type] = .object(media)
                response["content"] = .object(content)
            }
            responses["\(answer.status.code)"] = .object(response)
        }
        if route.answers.isEmpty { responses["default"] = ["description": "Done"] }
        for status in refusals(of: route) where responses["\(status.code)"] == nil {
            responses["\(status.code)"] = ["$ref": "#/components/responses/Problem"]
        }
        return responses
    }

    /// The error statuses of every route of this kind, and those that the route declares.
    private func refusals(of route: Route) -> [HTTPStatus] {
        var found: Set<Int> = [500]
        if !route.isOpen, !description.security.isEmpty { found.insert(401) }
        if !route.inputs.isEmpty { found.formUnion([400, route.inputRefusal.code]) }
        if route.inputs.contains(where: { $0.place == .body }) { found.formUnion([413, 415]) }
        found.formUnion(route.refusals.map(\.code))
        return found.sorted().map { HTTPStatus($0) }
    }
}
