import COpenSSL
import Cryptography
import Testing

@Suite("Loading of OpenSSL on demand") struct LibraryTests {
    @Test("The library has every function that is called, and reports its version")
    func complete() throws {
        let version = try Digest.installedLibraryVersion()
        #expect(version.hasPrefix("3."))
        #expect(Digest.libraryVersion.hasPrefix("3."))
    }

    @Test("Many threads that load the library at once all call the right function")
    func together() async {
        let answers = await withTaskGroup(of: String.self) { group in
            for _ in 0..<64 { group.addTask { unsafe String(cString: OpenSSL_version(OPENSSL_FULL_VERSION_STRING)) } }
            return await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(answers.count == 1 && answers.first?.hasPrefix("3.") == true, "\(answers)")
    }
}
