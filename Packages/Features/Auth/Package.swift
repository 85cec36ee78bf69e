// swift-tools-version: 6.2
import PackageDescription

/// What tests use of the packages below.
let kits: [Target.Dependency] = [
    .product(name: "Core", package: "Core"), .product(name: "CoreTesting", package: "Core"),
    .product(name: "TestTraits", package: "Core"),
    .product(name: "Cryptography", package: "Cryptography"), .product(name: "FileKit", package: "FileKit"),
    .product(name: "HTTPKit", package: "HTTPKit"), .product(name: "HTTPServer", package: "HTTPKit"),
    .product(name: "HTTPTesting", package: "HTTPKit"), .product(name: "KamiwazaKit", package: "KamiwazaKit"),
    .product(name: "KamiwazaTesting", package: "KamiwazaKit"), .product(name: "LoopKit", package: "LoopKit"),
    .product(name: "MCPKit", package: "MCPKit"), .product(name: "ProcessKit", package: "ProcessKit"),
    .product(name: "StorageKit", package: "StorageKit"),
    .product(name: "HostKit", package: "Host"), .product(name: "HostTesting", package: "Host"),
]

let package = Package(
    name: "Auth",
    products: [.library(name: "Auth", targets: ["Auth", "AuthVault", "AuthTrust", "AuthSignIn"])],
    dependencies: [
        .package(path: "../../Core"), .package(path: "../../Kits/Cryptography"), .package(path: "../../Kits/FileKit"),
        .package(path: "../../Kits/HTTPKit"), .package(path: "../../Kits/KamiwazaKit"),
        .package(path: "../../Kits/LoopKit"), .package(path: "../../Kits/MCPKit"),
        .package(path: "../../Kits/ProcessKit"), .package(path: "../../Kits/StorageKit"),
        .package(path: "../../Frontends/Host"),
    ],
    targets: [
        .target(name: "CAuthVault"),
        .target(
            name: "AuthVault",
            dependencies: [
                "CAuthVault", .product(name: "Core", package: "Core"),
                .product(name: "Cryptography", package: "Cryptography"), .product(name: "FileKit", package: "FileKit"),
                .product(name: "LoopKit", package: "LoopKit"),
            ]),
        .target(
            name: "AuthTrust",
            dependencies: [
                .product(name: "Core", package: "Core"), .product(name: "Cryptography", package: "Cryptography"),
                .product(name: "HTTPKit", package: "HTTPKit"), .product(name: "StorageKit", package: "StorageKit"),
            ]),
        .target(
            name: "AuthSignIn",
            dependencies: [
                .product(name: "Core", package: "Core"), .product(name: "Cryptography", package: "Cryptography"),
                .product(name: "FileKit", package: "FileKit"), .product(name: "HTTPKit", package: "HTTPKit"),
                .product(name: "HTTPServer", package: "HTTPKit"), .product(name: "LoopKit", package: "LoopKit"),
                .product(name: "ProcessKit", package: "ProcessKit"),
            ]),
        .target(
            name: "Auth",
            dependencies: [
                "AuthVault", "AuthTrust", "AuthSignIn", .product(name: "Core", package: "Core"),
                .product(name: "Cryptography", package: "Cryptography"), .product(name: "FileKit", package: "FileKit"),
                .product(name: "HTTPKit", package: "HTTPKit"), .product(name: "KamiwazaKit", package: "KamiwazaKit"),
                .product(name: "StorageKit", package: "StorageKit"),
            ]),
        .testTarget(name: "AuthVaultTests", dependencies: ["AuthVault"] + kits),
        .testTarget(name: "AuthTrustTests", dependencies: ["Auth", "AuthTrust"] + kits),
        .testTarget(name: "AuthSignInTests", dependencies: ["AuthSignIn"] + kits),
        .testTarget(name: "AuthTests", dependencies: ["Auth", "AuthVault", "AuthTrust", "AuthSignIn"] + kits),
    ])

for target in package.targets where target.type != .system && target.type != .plugin {
    target.swiftSettings = [
        .swiftLanguageMode(.v6), .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"), .strictMemorySafety(), .treatAllWarnings(as: .error),
    ]
}
