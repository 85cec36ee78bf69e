// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "StorageKit",
    products: [.library(name: "StorageKit", targets: ["StorageKit"])],
    dependencies: [
        .package(path: "../../Core"), .package(path: "../Cryptography"), .package(path: "../FileKit"),
        .package(path: "../LoopKit"),
    ],
    targets: [
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .target(name: "CStorageKit", dependencies: ["CSQLite"]),
        .target(
            name: "StorageKit",
            dependencies: [
                "CSQLite", "CStorageKit", .product(name: "Core", package: "Core"),
                .product(name: "Cryptography", package: "Cryptography"), .product(name: "FileKit", package: "FileKit"),
                .product(name: "LoopKit", package: "LoopKit"),
            ]),
        .testTarget(
            name: "StorageKitTests",
            dependencies: [
                "StorageKit", .product(name: "Core", package: "Core"), .product(name: "CoreTesting", package: "Core"),
                .product(name: "FileKit", package: "FileKit"), .product(name: "LoopKit", package: "LoopKit"),
            ]),
    ])

for target in package.targets where target.type != .system && target.type != .plugin {
    target.swiftSettings = [
        .swiftLanguageMode(.v6), .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"), .strictMemorySafety(), .treatAllWarnings(as: .error),
    ]
}
