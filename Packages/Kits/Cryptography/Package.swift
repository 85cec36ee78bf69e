// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "Cryptography",
    products: [.library(name: "Cryptography", targets: ["Cryptography"])],
    dependencies: [.package(path: "../../Core")],
    targets: [
        .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
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
