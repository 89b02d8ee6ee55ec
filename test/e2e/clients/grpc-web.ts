import { createGrpcWebTransport } from '@connectrpc/connect-web'
import { callOver } from './transport.ts'

/** `application/grpc-web+proto` with connect-web. */
export const callGrpcWeb = callOver((baseUrl) => createGrpcWebTransport({ baseUrl }), 200)
