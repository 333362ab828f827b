"""The layers of memory that a prompt begins with: Soul and Identity, which are the robot's, and User, which is a view.

`layers.Layers` is the one way to read and to change Soul and Identity: every change, whoever makes it, goes through its
`write`, where the locks are. `user.user_layer` shows what is known of a person as the third layer; nothing is stored for it.
"""
