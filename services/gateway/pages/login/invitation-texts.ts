const en = {
  invitation: 'Your invitation',
  invitationIntro: 'You are invited. Open the invitation to see who invites you, and to accept it.',
  invitationOpen: 'Open the invitation',
  invitationCodeWrong:
    'This invitation does not open: its code is mistyped, or it has expired, was accepted, or was replaced by a newer one. Use the link of the newest mail, or ask whoever invited you for another one.',
  invitationThrottled: 'Too many attempts. Please wait a minute and try again.',
  invited: 'You are invited to {host}.',
  invitedHere: '{inviter} invites you to {host}.',
  invitedBy: '{inviter} invites you to {application} ({host}).',
  invitationKnown: 'You join as {account}.',
  invitationJoin: 'Accept the invitation',
  invitedPerson:
    'The invitation is for another account than the one you are signed in with. Sign in with the account of the invited address.',
  invitationOver: 'This link has expired',
  invitationOverHint:
    'The invitation has expired, was accepted or taken back, or a newer one was sent. If you have accepted it, sign in to your application. Else ask whoever invited you for another one.',
  invitationRefused: 'This invitation cannot be accepted now',
  invitationRefusedHint:
    'The person who invited you may not give what it promises, or no longer. Nothing has changed. Please ask them for another invitation.',
}

const de: typeof en = {
  invitation: 'Ihre Einladung',
  invitationIntro:
    'Sie sind eingeladen. Öffnen Sie die Einladung, um zu sehen, wer Sie einlädt, und um sie anzunehmen.',
  invitationOpen: 'Einladung öffnen',
  invitationCodeWrong:
    'Diese Einladung lässt sich nicht öffnen: Ihr Code ist vertippt, oder sie ist abgelaufen, angenommen oder durch eine neuere ersetzt. Nehmen Sie den Link der neuesten Mail, oder bitten Sie um eine neue Einladung.',
  invitationThrottled: 'Zu viele Versuche. Bitte warten Sie eine Minute und versuchen Sie es noch einmal.',
  invited: 'Sie sind zu {host} eingeladen.',
  invitedHere: '{inviter} lädt Sie zu {host} ein.',
  invitedBy: '{inviter} lädt Sie zu {application} ({host}) ein.',
  invitationKnown: 'Sie nehmen als {account} teil.',
  invitationJoin: 'Einladung annehmen',
  invitedPerson:
    'Die Einladung ist für ein anderes Konto als das, mit dem Sie angemeldet sind. Melden Sie sich mit dem Konto der eingeladenen Adresse an.',
  invitationOver: 'Dieser Link ist abgelaufen',
  invitationOverHint:
    'Die Einladung ist abgelaufen, angenommen oder zurückgezogen, oder es wurde eine neuere geschickt. Wenn Sie sie angenommen haben, melden Sie sich in Ihrer Anwendung an. Sonst bitten Sie um eine neue Einladung.',
  invitationRefused: 'Diese Einladung lässt sich jetzt nicht annehmen',
  invitationRefusedHint:
    'Wer Sie eingeladen hat, darf nicht oder nicht mehr geben, was sie verspricht. Es hat sich nichts geändert. Bitten Sie um eine neue Einladung.',
}

/** The texts of invitations. */
export const invitation = { en, de }
