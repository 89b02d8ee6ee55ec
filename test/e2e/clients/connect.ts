import { createConnectTransport } from '@connectrpc/connect-web'
import { callOver } from './transport.ts'

/** Connect in protobuf with connect-web, which does not show the HTTP status. */
export const callConnect = callOver((baseUrl) => createConnectTransport({ baseUrl, useBinaryFormat: true }), 0)
