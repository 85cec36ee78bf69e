import Capabilities
import GatewayTurns
import HTTPCore
import HTTPServer
import JSON

/// Embeddings, from providers that have models for them.
struct EmbeddingRoutes {
    let services: APIServices

    var all: [Route] {
        [
            Route(
                .post, "/v1/embeddings", "createEmbeddings", "Create embeddings, in OpenAI's dialect",
                .body(EmbeddingsBody.self, "The request", unknown: .kept)
            ) { request, body in try await embed(body, for: request.principal) }
            .answering(.ok, EmbeddingsReply.self, "The embeddings")
            .refusing(.notFound, .contentTooLarge, .tooManyRequests, .badGateway, .gatewayTimeout, HTTPStatus(529))
            .refusingInputs(with: .badRequest).tagged("models")
        ]
    }

    private func embed(_ body: EmbeddingsBody, for client: Principal?) async throws -> HTTPAnswer {
        do {
            return .json(
                JSON.object(try await services.turns.embeddings(body.members, for: client?.turnClient)))
        } catch let failure as any Failure {
            throw RequestProblem(failure)
        }
    }
}

/// The body of OpenAI's `POST /v1/embeddings`, which goes to the provider unchanged.
struct EmbeddingsBody: InputValue {
    let members: JSONObject

    static let schema = Schema.record([
        Schema.Property("model", "PROVIDER/MODEL, or a model's name", .string, keywords: ["minLength": 1]),
        Schema.Property("input", "A text, or a list of texts or of tokens", .any, keywords: .content),
        Schema.Property("encoding_format", "float or base64; passed to the provider", .optional(.string)),
        Schema.Property(
            "dimensions", "Length of the vectors; passed to the provider", .optional(.integer(nil)), keywords: .counts),
    ])

    init(json: JSON) throws(ValueError) {
        guard let members = json.object else { throw ValueError("must be an object, not \(json.kindName)") }
        guard members["model"]?.string?.isEmpty == false else {
            throw ValueError("must be the name of a model", at: ["model"])
        }
        guard members["input"]?.isNull == false else { throw ValueError("must be a text or a list", at: ["input"]) }
        self.members = members
    }
}

/// The schema of the response, for the OpenAPI document.
enum EmbeddingsReply: Shaped {
    static let schema = Schema.record([
        Schema.Property("object", "Always list", .optional(.string)),
        Schema.Property("data", "One vector for each text", .array(.any)),
        Schema.Property("model", "The model that answered", .string),
        Schema.Property("usage", "Tokens used", .optional(.map(.any))),
    ])
}
