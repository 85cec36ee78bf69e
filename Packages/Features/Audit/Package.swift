// swift-tools-version: 6.2
import PackageDescription

let core: Target.Dependency = .product(name: "Core", package: "Core")
let cryptography: Target.Dependency = .product(name: "Cryptography", package: "Cryptography")
let fileKit: Target.Dependency = .product(name: "FileKit", package: "FileKit")
let storageKit: Target.Dependency = .product(name: "StorageKit", package: "StorageKit")

let package = Package(
    name: "Audit",
    products: [.library(name: "Audit", targets: ["Audit"])],
    dependencies: [
        .package(path: "../../Core"), .package(path: "../../Kits/Cryptography"), .package(path: "../../Kits/FileKit"),
        .package(path: "../../Kits/LoopKit"), .package(path: "../../Kits/StorageKit"),
    ],
    targets: [
        .target(name: "Audit", dependencies: [core, cryptography, fileKit, storageKit]),
        .testTarget(
            name: "AuditTests",
            dependencies: [
                "Audit", core, .product(name: "CoreTesting", package: "Core"), cryptography, fileKit,
                .product(name: "LoopKit", package: "LoopKit"), storageKit,
            ]),
    ]
)

for target in package.targets where target.type != .system && target.type != .plugin {
    target.swiftSettings = [
        .swiftLanguageMode(.v6), .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"), .strictMemorySafety(), .treatAllWarnings(as: .error),
    ]
}
