/** The aggregate of the notices to a user's former addresses, by the user's id. */
export const noticeType = 'user.email.notice'

/** How a notice ended. */
export type NoticeEvent =
  | { type: 'sent'; payload: { noticeId: string } }
  | { type: 'failed'; payload: { noticeId: string; failure: string } }

/** The ids of the last notices that ended. */
export interface Notices {
  settled: string[]
}

// More than wait for one user at a time.
const most = 100

export function evolveNotice(notices: Notices | undefined, { payload: { noticeId } }: NoticeEvent): Notices {
  return { settled: [...(notices?.settled ?? []), noticeId].slice(-most) }
}
