import Bundles
import Capabilities
import ExpressionKit
import JSON
import Registry
import Synchronization

/// The values of `env`: constants, variables and secrets of the vault.
final class EnvironmentValues: Sendable {
    private let variables: [String: String]
    private let redactor: Redactor
    private let vault: @Sendable (SecretName) async throws -> Secret?
    /// The secrets that were already read from the vault.
    private let secrets = Mutex<[String: String]>([:])

    /// Reads the variables and the vault of this program.
    convenience init(_ context: ActionContext) {
        self.init(context.host.environment, context.host.redactor) { name in
            guard let store = try await context.provider(of: (any SecretStore).self) else {
                throw RegistryError.missing(Need.one((any SecretStore).self).capability)
            }
            return try await store.secret(named: name)
        }
    }

    /// Reads the variables of a recording, which has no secrets.
    convenience init(_ recording: Recording, _ redactor: Redactor) {
        self.init(recording.variables, redactor) { _ in Secret(Redactor.mark) }
    }

    private init(
        _ variables: [String: String], _ redactor: Redactor,
        _ vault: @escaping @Sendable (SecretName) async throws -> Secret?
    ) {
        self.variables = variables
        self.redactor = redactor
        self.vault = vault
    }

    /// The values, or a problem for each missing one. Secrets are registered with the redactor.
    ///
    /// - Parameters:
    ///   - grant: the rights of the bundle; the vault is not asked for a secret that the bundle may not have.
    ///   - inputs: nil if unknown; values that depend on them are then skipped.
    ///   - recording: records the variables.
    func values(
        for bundle: Bundle, within grant: Grant, _ inputs: JSONObject?, run: JSONObject,
        recording: RecordingWriter? = nil
    ) async -> (values: JSONObject, problems: [BundleProblem]) {
        var values = JSONObject()
        var problems: [BundleProblem] = []
        let scope = Scope([
            "inputs": .object(inputs ?? [:]), "run": .object(run),
            "bundle": ["name": .string(bundle.name), "folder": .string(bundle.source.folder)],
        ])
        for (name, value) in bundle.environment {
            func add(_ message: String, _ path: [String] = []) {
                problems.append(bundle.source.problem(message, at: ["env", name] + path))
            }
            if let secret = value.secret, case .deny(let rule, let mend) = grant.decide(.secret(secret)) {
                add("\(rule); \(mend)")
                continue
            }
            switch value {
            case .value where inputs == nil: continue
            case .value(let template):
                do throws(JSONTemplate.Problem) { values.append(name, try template.value(in: scope)) } catch {
                    add(error.error.message, error.path)
                }
            case .variable(let variable, let otherwise):
                if let text = variables[variable] ?? otherwise {
                    if value.secret != nil { redactor.learn(Secret(text)) }
                    recording?.keep(text, ofVariable: variable)
                    values.append(name, .string(text))
                } else {
                    add("the variable \(variable) is not set; set it, or give env.\(name) a default")
                }
            case .secret(let secret):
                do {
                    values.append(name, .string(try await self.secret(secret)))
                } catch {
                    add(AnyFailure(error).message)
                }
            }
        }
        return (values, problems)
    }

    private func secret(_ name: String) async throws -> String {
        if let known = secrets.withLock({ $0[name] }) { return known }
        guard let secret = try await vault(SecretName(name)) else {
            throw RunnerError.input(
                "no secret '\(PlainText.escape(name))'; store it with 'martlet auth secret set', or set "
                    + SecretName(name).environmentVariable)
        }
        redactor.learn(secret)
        let text = secret.withText { $0 }
        secrets.withLock { $0[name] = text }
        return text
    }
}
