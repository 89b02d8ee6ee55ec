import type { Methods } from '#gen/console/api'

export type Method = keyof Methods
export type Request<M extends Method> = Methods[M]['request']
export type Response<M extends Method> = Methods[M]['response']

export interface CallOptions {
  /** The acting organization. */
  organization?: string | undefined
  /** The sequence that the object had when it was read: a write is refused if it has another one. */
  sequence?: string | undefined
  /** A write under one key happens once, however often it is sent. */
  key?: string | undefined
  signal?: AbortSignal
}

/** A write as it was sent last, for "As a call". */
export interface Sent {
  method: Method
  request: object
  options: CallOptions
}
