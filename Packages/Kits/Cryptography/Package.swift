// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "Cryptography",
    products: [.library(name: "Cryptography", targets: ["Cryptography"])],
    dependencies: [.package(path: "../../Core")],
    targets: [
        // Only the headers: the libraries are opened when one of their functions is first called.
        .systemLibrary(name: "COpenSSL", providers: [.apt(["libssl-dev"])]),
        .target(name: "CCryptography", dependencies: ["COpenSSL"]),
        .target(
            name: "Cryptography",
            dependencies: ["COpenSSL", "CCryptography", .product(name: "Core", package: "Core")]),
        .testTarget(
            name: "CryptographyTests",
            dependencies: ["Cryptography", "COpenSSL", .product(name: "CoreTesting", package: "Core")]),
    ])

for target in package.targets where target.type != .system && target.type != .plugin {
    target.swiftSettings = [
        .swiftLanguageMode(.v6), .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"), .strictMemorySafety(), .treatAllWarnings(as: .error),
    ]
}
