/** Something that waits for somebody. */
export interface Need {
  key: string
  text: string
  /** What was said of it elsewhere, such as by a mail server. */
  reason?: string
  /** Where it is mended. */
  path?: string
  /** Or it is mended at once: the webhook whose deliveries are sent again. */
  webhookId?: string
}

/** What one place knows. */
export interface Needs {
  mayRead: boolean | undefined
  /** Undefined while it is not known. */
  needs: Need[] | undefined
  error: Error | null
}
