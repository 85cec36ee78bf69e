import AuthVault
import Capabilities
import Registry

/// What `doctor` asks about Auth.
enum AuthChecks {
    static func vault(_ services: AuthServices) -> HealthCheck {
        HealthCheck("auth.vault", "the vault with the secrets") { host in
            do {
                let status = try services.vault.status()
                // What every command that uses a secret would refuse is told here, too.
                try services.vault.checkKeyFile()
                switch status.form {
                case .none: return .ok("not there yet; the first secret makes it")
                case .keyFile: return .ok("\(status.path), opened by a key file")
                case .passphrase: return .ok("\(status.path), protected by a passphrase")
                }
            } catch let error as VaultError where error.kind == .keyFile {
                return .failure(error.message, mend: "mend the key file as it is said, or restore both from one backup")
            } catch {
                return .failure(
                    AnyFailure(error).message, mend: "restore a copy with 'martlet data restore', or move the file away"
                )
            }
        }
    }
}
