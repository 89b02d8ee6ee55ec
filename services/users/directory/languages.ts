/** The languages of the pages and the mails. The first is that of whoever asks for none of them. */
export const languages = ['en', 'de'] as const
