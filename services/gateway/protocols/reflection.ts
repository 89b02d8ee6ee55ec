import { toBinary } from '@bufbuild/protobuf'
import { FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt'
import type { Server } from '@grpc/grpc-js'
import { ReflectionService } from '@grpc/reflection'
import { registry } from '#lib/registry'
import { offered } from '../calls/routes.ts'

/** The full names of the services that the gateway offers. */
export const offeredServices: string[] = [...new Set(offered.map(({ desc }) => desc.parent.typeName))]

/** Adds server reflection for the offered services, and no others. */
export function addReflection(server: Server): void {
  const files = [...registry.files].filter(({ services }) =>
    services.every(({ typeName }) => offeredServices.includes(typeName)),
  )
  const fileDescriptorProtos = files.map(({ proto }) => Buffer.from(toBinary(FileDescriptorProtoSchema, proto)))
  const everything = { format: 'Protocol Buffer 3 EnumDescriptorProto', type: {}, fileDescriptorProtos } as const
  new ReflectionService({ roster: everything }).addToServer(server)
}
